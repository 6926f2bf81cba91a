package jobs

import (
	"context"
	"encoding/json"

	"locus/config/etcd"
	"locus/migrate/job"
)

// Differences returns the differing rows of a job that failed its verification.
func (s *Store) Differences(ctx context.Context, id string) (l job.Differences, err error) {
	text, revision, err := s.kv.Get(ctx, job.DifferencesPrefix+id)
	if err != nil || revision == 0 {
		return l, err
	}
	err = json.Unmarshal(text, &l)
	return l, err
}

// List replaces the stored differences.
func (s *Store) List(ctx context.Context, id string, l job.Differences) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = s.kv.Commit(ctx, nil, etcd.Put(job.DifferencesPrefix+id, text))
	return err
}
