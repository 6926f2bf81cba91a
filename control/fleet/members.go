package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router/cluster"
)

// MemberPrefix begins the keys of processes that have started and have not reported their end. Unlike cards, these keys have no lease.
const MemberPrefix = "members/"

// Membership writes the start and the end of a process to the timeline, once each.
type Membership struct {
	KV   *etcd.KV
	Card Card
	Log  *slog.Logger
	// Every is the interval between two checks of the process's own key, and between two tries to write it. 0: 30 s.
	Every time.Duration
}

const (
	memberEvery = 30 * time.Second
	memberWrite = 2 * time.Second // for one write
)

// member is the value of a key.
type member struct {
	Started time.Time `json:"started"`
	Version string    `json:"version"`
}

// Run writes that the process has started, and that it is back if another process has taken it for lost. It ends with ctx.
func (m Membership) Run(ctx context.Context) error {
	if m.Every <= 0 {
		m.Every = memberEvery
	}
	what, failing := m.started(), false
	tick := time.NewTicker(m.Every)
	defer tick.Stop()
	for {
		wrote, err := m.join(ctx, what)
		if wrote {
			what = "is back: other processes had considered it lost"
		}
		if err != nil && !failing && ctx.Err() == nil {
			m.Log.Warn("the start of this process is not in the timeline yet", slog.Any("error", err))
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (m Membership) started() string {
	roles := make([]string, len(m.Card.Roles))
	for i, r := range m.Card.Roles {
		roles[i] = string(r)
	}
	what := "started version " + m.Card.Version
	if len(roles) > 0 {
		what += " as " + strings.Join(roles, ", ")
	}
	return what
}

// join writes the key and the event if the key does not exist.
func (m Membership) join(ctx context.Context, what string) (wrote bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, memberWrite)
	defer cancel()
	key := MemberPrefix + m.Card.ID
	if _, revision, err := m.KV.Get(ctx, key); err != nil || revision > 0 {
		return false, err
	}
	text, err := json.Marshal(member{m.Card.Started, m.Card.Version})
	if err != nil {
		return false, err
	}
	writes, _ := events.Add([]etcd.Write{etcd.Put(key, text)}, m.event(what, time.Now()))
	_, err = m.KV.Commit(ctx, []etcd.Guard{{Key: key}}, writes...)
	switch {
	case errors.As(err, new(*etcd.Conflict)): // an earlier try had been written
		return true, nil
	case err != nil:
		return false, err
	}
	return true, nil
}

// Leave writes that the process ends. The time since it began to stop is the duration; a zero time means that it did not wait for clients.
func (m Membership) Leave(ctx context.Context, stopping, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, memberWrite)
	defer cancel()
	e := m.event("stopped", now)
	if !stopping.IsZero() {
		e.Took = now.Sub(stopping)
	}
	writes, _ := events.Add([]etcd.Write{etcd.Delete(MemberPrefix + m.Card.ID)}, e)
	if _, err := m.KV.Commit(ctx, nil, writes...); err != nil {
		m.Log.Warn("the end of this process is not in the timeline; a mover will report it as lost", slog.Any("error", err))
	}
}

func (m Membership) event(what string, now time.Time) events.Event {
	return events.Event{At: now, Kind: events.Process, Subject: "process " + m.Card.ID, What: what}
}

// Census finds processes that have ended without reporting it, and writes that to the timeline. Any number of processes may run one: each loss is
// written once.
type Census struct {
	KV    *etcd.KV
	By    string // this process
	Log   *slog.Logger
	Every time.Duration // between two checks; 0: 10 s
	Grace time.Duration // how long the card must be missing, in addition to its lease; 0: 15 s

	missing map[string]time.Time // by ID, since when
}

// Run checks until ctx ends.
func (c *Census) Run(ctx context.Context) error {
	if c.Every <= 0 {
		c.Every = 10 * time.Second
	}
	if c.Grace <= 0 {
		c.Grace = 15 * time.Second
	}
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for {
		if err := c.check(ctx, time.Now()); err != nil && ctx.Err() == nil {
			c.Log.Debug("processes were not checked", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (c *Census) check(ctx context.Context, now time.Time) error {
	pairs, _, err := c.KV.GetPrefixes(ctx, MemberPrefix, cluster.ProxyPrefix, cluster.ProcessPrefix)
	if err != nil {
		return err
	}
	alive := map[string]bool{}
	for i, prefix := range []string{cluster.ProxyPrefix, cluster.ProcessPrefix} {
		for _, pair := range pairs[i+1] {
			alive[strings.TrimPrefix(pair.Key, prefix)] = true
		}
	}
	missing := map[string]time.Time{}
	for _, pair := range pairs[0] {
		id := strings.TrimPrefix(pair.Key, MemberPrefix)
		if alive[id] {
			continue
		}
		since, known := c.missing[id]
		if !known {
			since = now
		}
		if missing[id] = since; now.Sub(since) < c.Grace {
			continue
		}
		if err := c.lost(ctx, id, pair, now); err != nil {
			return err
		}
	}
	c.missing = missing
	return nil
}

// lost deletes a process's key together with the event, unless another process has done so.
func (c *Census) lost(ctx context.Context, id string, pair etcd.KeyValue, now time.Time) error {
	e := events.Event{
		At: now, Kind: events.Process, Subject: "process " + id, By: c.By, Failed: true,
		What: "was lost: it crashed, was killed, or can't reach etcd",
	}
	var m member
	if json.Unmarshal(pair.Value, &m) == nil && !m.Started.IsZero() {
		e.What += fmt.Sprintf("; it had started at %s", m.Started.UTC().Format("2006-01-02 15:04:05Z"))
	}
	writes, _ := events.Add([]etcd.Write{etcd.Delete(pair.Key)}, e)
	_, err := c.KV.Commit(ctx, []etcd.Guard{{Key: pair.Key, Revision: pair.Revision}}, writes...)
	if errors.As(err, new(*etcd.Conflict)) {
		return nil
	}
	return err
}
