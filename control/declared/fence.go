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

// ReleaseFence removes the fences of a version of the route map for a job that can't do so. It writes the next
// version without them, which hands nothing over. It does nothing if the version is no longer the newest. A
// process that committed the step meanwhile has won. If it has not, its commit fails.
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

// Withdrawn returns the write that removes a job from the route map. The job's genes stay on their current
// shards. It returns nothing if the map does not contain the job.
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
