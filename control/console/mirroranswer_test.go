package console

import (
	"testing"

	"locus/migrate/job"
	"locus/proxy/mirror"
)

// TestMirroredReadsAreShown: of all proxies together, as long as reads of a move are mirrored.
func TestMirroredReadsAreShown(t *testing.T) {
	j := plannedJob(t, "split-1")
	r := mirror.Report{Percent: 10, Away: "it is gone"}
	r.Sampled, r.Compared, r.Different, r.Lag, r.Dropped = 50, 40, 2, 3, 5
	for range differencesShown {
		r.Differences = append(r.Differences, mirror.Difference{Statement: "select ?", Gene: "0x4001", SourceRows: 1, Times: 2})
	}
	f := &fakeCluster{jobs: []*job.Job{j}, mirrored: map[string]mirror.Report{"split-1": r}}
	if a := get[stateAnswer](t, newConsole(f), "/v1/state"); len(a.Moves) != 1 || a.Moves[0].Mirror != nil {
		t.Fatalf("of a move without mirrored reads: %+v", a.Moves)
	}
	j.Mirror = 10
	a := get[stateAnswer](t, newConsole(f), "/v1/state")
	got := a.Moves[0].Mirror
	if got == nil || got.Percent != 10 || got.Sampled != 100 || got.Compared != 80 || got.Different != 4 || got.Lag != 6 || got.Dropped != 10 || got.Away != "it is gone" {
		t.Fatalf("of two proxies: %+v", got)
	}
	if len(got.Differences) != differencesShown || got.Differences[0].Statement != "select ?" || got.Differences[0].Gene != "0x4001" {
		t.Errorf("differences: %+v", got.Differences)
	}
}
