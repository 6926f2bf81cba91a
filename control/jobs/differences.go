package jobs

import (
	"context"
	"encoding/json"

	"locus/config/etcd"
	"locus/migrate/job"
)

// Differences is the rows that differ of a job that has failed because of them.
func (s *Store) Differences(ctx context.Context, id string) (l job.Differences, err error) {
	text, revision, err := s.kv.Get(ctx, job.DifferencesPrefix+id)
	if err != nil || revision == 0 {
		return l, err
	}
	err = json.Unmarshal(text, &l)
	return l, err
}

// List replaces them.
func (s *Store) List(ctx context.Context, id string, l job.Differences) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = s.kv.Commit(ctx, nil, etcd.Put(job.DifferencesPrefix+id, text))
	return err
}
