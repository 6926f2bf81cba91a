// Package declared reads what a cluster declares from etcd, and writes a changed
// declaration back, for the commands and the demo.
//
// It owns the one transaction of a change. It never decides what may be changed
// (packages cluster and schema do), and proxies don't use it: they watch.
package declared

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/router/cluster"
)

// State is a declaration as it was read.
type State struct {
	Cluster *cluster.Cluster // nil: nothing is declared
	stored  map[string]cluster.Stored
	decoder *cluster.Decoder // of the stored documents
}

// Read reads the declaration under kv, which is the keys under the cluster's
// prefix. A cluster that isn't there is a State without one. Documents that this
// build can't use are those of [cluster.Cluster.Unreadable].
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
		return nil, fmt.Errorf("what is declared in etcd can't be read: %w", err)
	}
	return s, nil
}

// Revision is that of the last change of a document, by its key relative to [cluster.Prefix]; 0: it wasn't there.
func (s *State) Revision(key string) int64 { return s.stored[key].Revision }

// Current is the cluster that is declared; [cluster.ErrNotDeclared]: none is.
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

// Commit replaces the declaration by next, which cluster.Succeed gave for this
// State. It is written whole or not at all: if anybody has changed what it
// replaces since it was read, the error is an *etcd.Conflict and nothing was
// written. Any other error says that nothing was written, or is etcd.ErrUnknown.
func (s *State) Commit(ctx context.Context, kv *etcd.KV, next *cluster.Cluster) error {
	guards, writes, err := s.Planned(next)
	if err != nil {
		return err
	}
	_, err = kv.Commit(ctx, guards, writes...)
	return err
}

// Planned returns what Commit writes, for who writes something else with it. It is an error if what would be written is
// not read back as it was meant.
func (s *State) Planned(next *cluster.Cluster) (guards []etcd.Guard, writes []etcd.Write, err error) {
	if s.Cluster == nil {
		next = s.leaving(next)
	}
	w := cluster.PlanWrite(s.stored, next)
	if err := w.ReadBack(s.decoder, s.stored, next); err != nil {
		return nil, nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(w.Guards)) {
		guards = append(guards, etcd.Guard{Key: key, Revision: w.Guards[key]})
	}
	for _, key := range slices.Sorted(maps.Keys(w.Puts)) {
		writes = append(writes, etcd.Put(key, w.Puts[key]))
	}
	for _, key := range w.Deletes {
		writes = append(writes, etcd.Delete(key))
	}
	return guards, writes, nil
}

// leaving returns the first cluster here with the documents that were there before, which nobody can use, so that it leaves
// them as they are.
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

// History is the route maps that the cluster had and has, the oldest first.
// Those that can be read are given beside an error about those that can't.
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
