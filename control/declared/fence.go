package declared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"locus/config/etcd"
	"locus/router"
	"locus/router/cluster"
)

// ReleaseFence takes the fences of a version of the route map away, for a job
// that can't do it: by the next version, which hands nothing over. It does
// nothing if that version is no longer the newest. Whoever committed the step
// meanwhile has won, or else his commit fails.
func ReleaseFence(ctx context.Context, kv *etcd.KV, version int64, by string) error {
	const key = cluster.Prefix + cluster.MapKey
	text, revision, err := kv.Get(ctx, key)
	if err != nil {
		return err
	}
	m, _, err := router.Decode(text)
	if err != nil {
		return fmt.Errorf("release the fence of map version %d: %w", version, err)
	}
	if m.Version() != version || m.Held().Empty() {
		return nil
	}
	moves := m.Moves()
	for i := range moves {
		moves[i] = moves[i].Released()
	}
	next, err := m.Step(moves)
	if err != nil {
		return err
	}
	stamp := router.Stamp{By: by, Why: "a fence outlasted its deadline", At: time.Now()}
	_, err = kv.Commit(ctx, []etcd.Guard{{Key: key, Revision: revision}}, etcd.Put(key, router.Encode(next, stamp)))
	if errors.As(err, new(*etcd.Conflict)) {
		return nil
	}
	return err
}

// Withdrawn returns what takes the genes of a job out of the route map, which stay with the shards that have them: nothing
// if the map has none of them.
func Withdrawn(ctx context.Context, kv *etcd.KV, id string, stamp router.Stamp) ([]etcd.Guard, []etcd.Write, error) {
	const key = cluster.Prefix + cluster.MapKey
	text, revision, err := kv.Get(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	m, _, err := router.Decode(text)
	if err != nil {
		return nil, nil, fmt.Errorf("withdraw the genes of job %s from the route map: %w", id, err)
	}
	moves := slices.DeleteFunc(m.Moves(), func(v router.Move) bool { return v.ID() == id })
	if len(moves) == len(m.Moves()) {
		return nil, nil, nil
	}
	next, err := m.Step(moves)
	if err != nil {
		return nil, nil, err
	}
	return []etcd.Guard{{Key: key, Revision: revision}}, []etcd.Write{etcd.Put(key, router.Encode(next, stamp))}, nil
}
