//go:build long

package histories

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/mirror"
	harness "locus/test/cluster"
)

// TestTheMirrorIsAway kills the target while all reads are mirrored to it. No client may notice, the figures
// report since when it is unavailable, and reads are compared again when it is back.
func TestTheMirrorIsAway(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		c := w.inService(t)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		w.mirror(t, splitting, 100)
		before := w.mirrored(t, "reads are compared", func(r mirror.Report) bool { return r.Compared > 0 })
		w.Shards[2].Kill()
		away := w.mirrored(t, "the target is told to be away", func(r mirror.Report) bool { return r.Away != "" && r.Unsent > before.Unsent })
		c.goOn(t, some)
		w.Shards[2].Start()
		after := w.mirrored(t, "reads are compared again", func(r mirror.Report) bool {
			return r.Away == "" && r.Compared > away.Compared && r.Looking == 0
		})
		if after.Different > 0 {
			t.Errorf("%d reads are told to differ: %+v", after.Different, after.Differences)
		}
		t.Logf("away: %s; %+v", away.Away, after.Counts)
		w.toTheEnd(t, splitting)
		w.serviceEnds(t, c)
	})
}

// mirrored waits until the sum of all proxies' reports about mirrored reads satisfies a condition.
func (w *world) mirrored(t *testing.T, what string, is func(mirror.Report) bool) (r mirror.Report) {
	t.Helper()
	harness.Until(t, what, func() (bool, error) {
		all, err := w.Jobs.Mirrored(t.Context())
		if err != nil {
			return false, err
		}
		r = mirror.SumReports(slices.Collect(maps.Values(all[splitting])))
		return is(r), fmt.Errorf("%+v, away: %q", r.Counts, r.Away)
	})
	return r
}
