package histories

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"locus/migrate/job"
	"locus/proxy/mirror"
	harness "locus/test/cluster"
)

// mirror orders a share of a job's reads to be mirrored.
func (w *world) mirror(t *testing.T, id string, percent int) {
	t.Helper()
	if _, err := w.Jobs.Tell(t.Context(), id, job.Mirror(percent), "the test", time.Now(), nil); err != nil {
		t.Fatal(err)
	}
}

// nothingDiffered waits until all that was mirrored is settled, and fails the test unless the target had the source's rows: sooner
// or later.
func (w *world) nothingDiffered(t *testing.T, id string) {
	t.Helper()
	var r mirror.Report
	harness.Until(t, "mirrored reads are settled", func() (bool, error) {
		all, err := w.Jobs.Mirrored(t.Context())
		if err != nil || len(all[id]) < len(w.Proxies) {
			return false, err
		}
		r = mirror.SumReports(slices.Collect(maps.Values(all[id])))
		return r.Looking == 0, fmt.Errorf("%+v", r)
	})
	t.Logf("mirrored: %+v", r.Counts)
	if r.Compared == 0 || r.Different > 0 || r.Failed > 0 {
		t.Errorf("mirrored reads: %+v, %+v", r.Counts, r.Differences)
	}
}
