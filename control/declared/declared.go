// Package declared reads a cluster's declaration from etcd and writes a changed one back. The commands and the
// demo use it.
//
// It owns the transaction of a change. It never decides which changes are valid (packages cluster and schema
// do). Proxies don't use it, because they watch the keys.
package declared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router"
	"locus/router/cluster"
)

// State is a declaration as it was read.
type State struct {
	Cluster *cluster.Cluster // nil if no cluster is declared
	stored  map[string]cluster.Stored
	decoder *cluster.Decoder // of the stored documents
}

// Read reads the declaration under kv, which contains the keys under the cluster's prefix. If there is none,
// the State has no cluster. Documents that this build can't decode are in [cluster.Cluster.Unreadable].
func Read(ctx context.Context, kv *etcd.KV) (*State, error) {
	return readWith(ctx, kv, new(cluster.Decoder))
}

// readWith is Read with a Decoder that may have read earlier declarations.
func readWith(ctx context.Context, kv *etcd.KV, decoder *cluster.Decoder) (*State, error) {
	pairs, _, err := kv.GetPrefix(ctx, cluster.Prefix)
	if err != nil {
		return nil, err
	}
	s := &State{stored: map[string]cluster.Stored{}, decoder: decoder}
	documents := map[string][]byte{}
	for _, p := range pairs {
		key := strings.TrimPrefix(p.Key, cluster.Prefix)
		documents[key] = p.Value
		s.stored[key] = cluster.Stored{Value: p.Value, Revision: p.Revision}
	}
	s.Cluster, err = decoder.Decode(documents, nil)
	if err != nil && !errors.Is(err, cluster.ErrNotDeclared) {
		return nil, fmt.Errorf("the declarations in etcd can't be read: %w", err)
	}
	return s, nil
}

// Revision returns the revision of a document's last change, by its key relative to [cluster.Prefix]; 0 if the
// document did not exist.
func (s *State) Revision(key string) int64 { return s.stored[key].Revision }

// Current returns the declared cluster, or [cluster.ErrNotDeclared].
func Current(ctx context.Context, kv *etcd.KV) (*cluster.Cluster, error) {
	state, err := Read(ctx, kv)
	switch {
	case err != nil:
		return nil, err
	case state.Cluster == nil:
		return nil, cluster.ErrNotDeclared
	}
	return state.Cluster, nil
}

// Commit replaces the declaration by next, which cluster.Succeed returned for this State. All documents are
// written in one transaction. If another process has changed one of them since it was read, the error is an
// *etcd.Conflict. After any error nothing was written, except after etcd.ErrUnknown. The timeline gets an event
// with the stamp's author, time and reason. The conditions of the caller are part of the transaction.
func (s *State) Commit(ctx context.Context, kv *etcd.KV, next *cluster.Cluster, stamp router.Stamp, conditions ...etcd.Guard) error {
	w, err := s.plan(next)
	if err != nil {
		return err
	}
	guards, writes := transaction(w)
	guards = append(guards, conditions...)
	writes, left := events.Add(writes, s.eventOf(w, next, stamp)...)
	if _, err = kv.Commit(ctx, guards, writes...); err != nil {
		return err
	}
	recordAlone(ctx, kv, left)
	return nil
}

// Planned returns the writes of Commit, for a caller that adds writes of its own. It returns an error if
// decoding the written documents would give another cluster.
func (s *State) Planned(next *cluster.Cluster) (guards []etcd.Guard, writes []etcd.Write, err error) {
	w, err := s.plan(next)
	if err != nil {
		return nil, nil, err
	}
	guards, writes = transaction(w)
	return guards, writes, nil
}

func (s *State) plan(next *cluster.Cluster) (cluster.Write, error) {
	if s.Cluster == nil {
		next = s.leaving(next)
	}
	w := cluster.PlanWrite(s.stored, next)
	return w, w.ReadBack(s.decoder, s.stored, next)
}

// transaction returns a write as etcd takes it.
func transaction(w cluster.Write) (guards []etcd.Guard, writes []etcd.Write) {
	for _, key := range slices.Sorted(maps.Keys(w.Guards)) {
		guards = append(guards, etcd.Guard{Key: key, Revision: w.Guards[key]})
	}
	for _, key := range slices.Sorted(maps.Keys(w.Puts)) {
		writes = append(writes, etcd.Put(key, w.Puts[key]))
	}
	for _, key := range w.Deletes {
		writes = append(writes, etcd.Delete(key))
	}
	return guards, writes
}

// leaving returns the first cluster together with documents that existed before it, so that the first commit
// does not delete them.
func (s *State) leaving(next *cluster.Cluster) *cluster.Cluster {
	first := *next
	first.Unreadable = map[string]cluster.Unreadable{}
	own := cluster.Encode(next)
	for key := range s.stored {
		if _, declared := own[key]; !declared {
			first.Unreadable[key] = cluster.Unreadable{Why: "it was there before the cluster was declared"}
		}
	}
	return &first
}

// History returns the past and current route maps, the oldest first. If some can't be decoded, it returns the
// others with an error.
func History(ctx context.Context, kv *etcd.KV) ([]cluster.Version, error) {
	pairs, _, err := kv.GetPrefix(ctx, cluster.HistoryPrefix)
	if err != nil {
		return nil, err
	}
	documents := make(map[string][]byte, len(pairs))
	for _, p := range pairs {
		documents[p.Key] = p.Value
	}
	return cluster.History(documents)
}
