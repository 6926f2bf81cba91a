package fleet

import (
	"context"
	"slices"
	"time"

	"locus/config/etcd"
	"locus/proxy"
	"locus/proxy/health"
	"locus/proxy/meter"
)

// Beat is the state of a proxy in numbers. Counters count from its start, so the difference of two beats covers
// the time between them.
type Beat struct {
	At       time.Time       `json:"at"`
	Started  time.Time       `json:"started"`
	Sessions int             `json:"sessions"`
	Shards   map[string]Flow `json:"shards"` // including meter.NoShard and meter.SeveralShards
	Pools    map[string]Pool `json:"pools"`
	// EtcdAway and Refused are reasons why it uses an older state. Problems lists what it can't serve.
	EtcdAway string `json:"etcd_away,omitempty"`
	Refused  string `json:"refused,omitempty"`
	Problems string `json:"problems,omitempty"`
	Draining bool   `json:"draining,omitempty"`
	// DrainingSince and PortCloses are the schedule of a proxy that drains.
	DrainingSince time.Time `json:"draining_since,omitzero"`
	PortCloses    time.Time `json:"port_closes,omitzero"`
	// Holding is the number of statements that wait for their genes to change hands.
	Holding int64 `json:"holding,omitempty"`
	// Servers lists the shards' servers that it finds unhealthy.
	Servers []health.Status `json:"servers,omitempty"`
	// LockedOut holds the users who can't log in there, with the reasons.
	LockedOut map[string]string `json:"locked_out,omitempty"`
}

// Flow counts the statements on one shard.
type Flow struct {
	Count  uint64        `json:"count"`
	Failed uint64        `json:"errors"`
	Times  []meter.Times `json:"times,omitempty"`
}

// Pool is the state of the connections to one shard.
type Pool struct {
	InUse     int   `json:"in_use"`
	Idle      int   `json:"idle"`
	Limit     int   `json:"limit"`
	Waiting   int   `json:"waiting"`
	BlockedMs int64 `json:"blocked_ms,omitempty"` // time until the next login after failed ones
	// Replicas lists the replicas of the shard.
	Replicas []Replica `json:"replicas,omitempty"`
	// Unconfirmed is the time since which etcd has not confirmed the shard's primary, so that statements are
	// refused. StaleReads: plain reads continue meanwhile.
	Unconfirmed time.Time `json:"unconfirmed,omitzero"`
	StaleReads  bool      `json:"stale_reads,omitempty"`
}

// Replica is the replication lag of one replica.
type Replica struct {
	Addr   string `json:"addr"`
	LagMs  int64  `json:"lag_ms"`
	Usable bool   `json:"usable"` // reads are sent to it
}

// BeatOf returns a proxy's answer to Pulse.
func BeatOf(s proxy.Status, started, now time.Time) Beat {
	b := Beat{
		At: now.UTC(), Started: started, Sessions: s.Sessions, Shards: map[string]Flow{}, Pools: map[string]Pool{}, Draining: s.Draining, LockedOut: s.LockedOut,
		DrainingSince: s.Stopping.Since, PortCloses: s.Stopping.PortCloses,
	}
	if s.Counts != nil {
		b.Holding = s.Counts.Holding.Load()
	}
	for shard, p := range s.Pools {
		b.Pools[string(shard)] = Pool{
			InUse: p.Lent, Idle: p.Idle, Limit: p.Limit, Waiting: p.Waiting, BlockedMs: p.Blocked.Milliseconds(),
			Unconfirmed: p.Unleased, StaleReads: !p.Unleased.IsZero() && p.StaleAllowed,
		}
	}
	for _, r := range s.Replicas {
		pool := b.Pools[string(r.Shard)]
		pool.Replicas = append(pool.Replicas, Replica{r.Addr, r.Lag.Milliseconds(), r.Usable})
		b.Pools[string(r.Shard)] = pool
	}
	for _, server := range s.Servers {
		if server.Unwell() {
			b.Servers = append(b.Servers, server)
		}
	}
	for text, err := range map[*string]error{&b.EtcdAway: s.Live.Away, &b.Refused: s.Live.Refused, &b.Problems: s.Problems} {
		if err != nil {
			*text = err.Error()
		}
	}
	if s.Meter == nil {
		return b
	}
	for _, l := range s.Meter.Latencies.All() {
		f := b.Shards[l.Shard]
		f.add(Flow{Count: l.Count, Times: l.Times()})
		if l.Ending == meter.Errored {
			f.Failed += l.Count
		}
		b.Shards[l.Shard] = f
	}
	return b
}

func (f *Flow) add(g Flow) {
	f.Count += g.Count
	f.Failed += g.Failed
	f.Times = meter.AddTimes(f.Times, g.Times)
}

// since returns the difference to an earlier value. It returns false if f is not a later value of the same
// counters.
func (f Flow) since(before Flow) (Flow, bool) {
	times, later := meter.SinceTimes(f.Times, before.Times)
	if !later || f.Count < before.Count || f.Failed < before.Failed {
		return Flow{}, false
	}
	return Flow{f.Count - before.Count, f.Failed - before.Failed, times}, true
}

// Rates are the rates of statements between two beats of all proxies.
type Rates struct {
	PerSecond float64 `json:"statements_per_second"`
	Errors    float64 `json:"errors_per_second"`
	P50Ms     float64 `json:"p50_ms"`
	P99Ms     float64 `json:"p99_ms"`
}

// Between computes the rates of a shard, or of all statements if shard is "". It ignores proxies that were
// present in only one of the beats.
func Between(before, after map[string]Beat, shard string) Rates {
	var r Rates
	var times []meter.Times
	for id, b := range after {
		a, there := before[id]
		seconds := b.At.Sub(a.At).Seconds()
		if !there || seconds <= 0 || !a.Started.Equal(b.Started) {
			continue
		}
		for name, flow := range b.Shards {
			if shard != "" && name != shard {
				continue
			}
			if f, later := flow.since(a.Shards[name]); later {
				r.PerSecond += float64(f.Count) / seconds
				r.Errors += float64(f.Failed) / seconds
				times = meter.AddTimes(times, f.Times)
			}
		}
	}
	r.P50Ms = meter.Quantile(times, 0.5).Seconds() * 1000
	r.P99Ms = meter.Quantile(times, 0.99).Seconds() * 1000
	return r
}

// Beats asks all proxies for their state.
func Beats(ctx context.Context, kv *etcd.KV) (Answers[Beat], error) {
	a, err := Ask[Packed[Beat]](ctx, kv, Pulse, statementsPatience)
	return unpacked(a, err)
}

// BeatsLately returns the same as Beats, or answers to another process that are no older than fresh. Patience
// bounds the wait for answers.
func BeatsLately(ctx context.Context, kv *etcd.KV, fresh, patience time.Duration) (Answers[Beat], error) {
	a, err := AskLately[Packed[Beat]](ctx, kv, Pulse, fresh, patience)
	return unpacked(a, err)
}

func unpacked(a Answers[Packed[Beat]], err error) (Answers[Beat], error) {
	if err != nil {
		return Answers[Beat]{}, err
	}
	slices.Sort(a.Silent)
	beats := Answers[Beat]{By: map[string]Beat{}, Silent: a.Silent, Late: a.Late}
	for id, told := range a.By {
		beats.By[id] = told.Value
	}
	return beats, nil
}
