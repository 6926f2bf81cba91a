package declared

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// recording is the time limit of an event that doesn't fit into the transaction of its change.
const recording = time.Second

// recordAlone writes events in a transaction of their own. If that fails, the events are lost, but the operation that they
// describe is still reported as successful.
func recordAlone(ctx context.Context, kv *etcd.KV, left []events.Event) {
	if len(left) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recording)
	defer cancel()
	writes, _ := events.Add(nil, left...)
	_, _ = kv.Commit(ctx, nil, writes...)
}

// eventOf returns the event of a change of declared documents. It returns none if the change rewrites documents only.
func (s *State) eventOf(w cluster.Write, next *cluster.Cluster, stamp router.Stamp) []events.Event {
	var subjects, did []string
	note := func(key, what string) {
		if subject := subjectOf(strings.TrimPrefix(key, cluster.Prefix)); subject != "" {
			subjects, did = append(subjects, subject), append(did, what)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Puts)) {
		before, there := s.stored[strings.TrimPrefix(key, cluster.Prefix)]
		switch {
		case !strings.HasPrefix(key, cluster.Prefix) || there && bytes.Equal(before.Value, w.Puts[key]):
		case there:
			note(key, "changed")
		default:
			note(key, "declared")
		}
	}
	for _, key := range w.Deletes {
		note(key, "removed")
	}
	before := int64(0)
	if s.Cluster != nil {
		before = s.Cluster.Routes.Version()
	}
	moved := next.Routes.Version() != before
	if len(did) == 0 && !moved {
		return nil
	}
	e := events.Event{At: stamp.At, Kind: events.Declaration, Subject: "cluster", By: stamp.By}
	var parts []string
	if len(did) == 1 {
		e.Subject, parts = subjects[0], did
	} else {
		for i, subject := range subjects {
			parts = append(parts, subject+" "+did[i])
		}
	}
	if moved {
		parts = append(parts, fmt.Sprintf("route map version %d", next.Routes.Version()))
	}
	if e.What = strings.Join(parts, ", "); stamp.Why != "" {
		e.What += ": " + stamp.Why
	}
	return []events.Event{e}
}

// subjectOf returns the words for a declared document, or "" for the route map.
func subjectOf(key string) string {
	kind, name, _ := strings.Cut(key, "/")
	switch kind + "/" {
	case cluster.MapKey + "/":
		return ""
	case cluster.SettingsKey + "/":
		return "settings"
	case cluster.ShardPrefix:
		return "shard " + name
	case cluster.PrimaryPrefix:
		return "primary of shard " + name
	case cluster.UserPrefix:
		return "user " + name
	case cluster.GeneratorPrefix:
		return "generator " + name
	case cluster.TablePrefix, cluster.RenamingPrefix, cluster.CountersPrefix:
		if table, err := catalog.ParseTableKey(name); err == nil {
			name = table.String()
		}
		return map[string]string{cluster.TablePrefix: "table ", cluster.RenamingPrefix: "new name of table ", cluster.CountersPrefix: "counters of table "}[kind+"/"] + name
	}
	return kind + " " + name
}

// eventOf returns the event of the next version of a shard's primary; nil: it is none that matters to an operator. Began is when the change began,
// if this process began it.
func (p Primary) eventOf(next cluster.Primary, now time.Time) []events.Event {
	return primaryEvent(p.Shard, p.Primary, next, p.began, now)
}

func primaryEvent(shard router.ShardName, was, next cluster.Primary, began, now time.Time) []events.Event {
	e := events.Event{At: now, Kind: events.Switchover, Subject: "shard " + string(shard), By: next.By}
	if was.Cause == cluster.Lost || was.Cause == cluster.Found {
		e.Kind = events.Failover
	}
	if !began.IsZero() {
		e.Took = now.Sub(began)
	}
	switch {
	case was.Next != "" && next.Server == was.Next:
		e.What = fmt.Sprintf("%s is the primary, it was %s%s", next.Server, was.Server, cause(was))
	case next.Server != was.Server && next.Server != "":
		e.What = fmt.Sprintf("%s is the primary, it was %s", next.Server, was.Server)
	case was.Next == "" && next.Next != "" && (next.Cause == cluster.Lost || next.Cause == cluster.Found):
		e.Kind, e.Failed, e.Took = events.Failover, true, 0
		e.What = fmt.Sprintf("the change from %s to %s begins%s", was.Server, next.Next, cause(next))
	case was.Next != "" && next.Next == "":
		e.What, e.Failed = fmt.Sprintf("the change to %s was undone, %s is still the primary", was.Next, was.Server), true
	case was.Held && !next.Held:
		e.What, e.Failed, e.Took = fmt.Sprintf("the change to %s was interrupted, proxies use %s again", was.Next, was.Server), true, 0
	case was.Former != "" && next.Former == "":
		e.What, e.Took = fmt.Sprintf("%s replicates from %s", was.Former, next.Server), 0
	case next.Alone && !was.Alone:
		e.What, e.Failed, e.Took = fmt.Sprintf("%s goes on without replicas", next.Server), true, 0
	case was.Alone && !next.Alone:
		e.What, e.Took = fmt.Sprintf("%s waits for its replicas again", next.Server), 0
	default:
		return nil
	}
	return []events.Event{e}
}

// cause returns the reason for a change of the primary.
func cause(p cluster.Primary) string {
	switch p.Cause {
	case cluster.Lost:
		return "; most proxies couldn't reach " + p.Server
	case cluster.Found:
		return "; another tool promoted it"
	case cluster.Taken:
		return "; " + p.Server + " did not take part"
	case cluster.Ordered:
	}
	return ""
}
