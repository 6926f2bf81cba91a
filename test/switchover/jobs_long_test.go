//go:build long

package switchover

import (
	"slices"
	"testing"

	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
	"locus/test/servers"
)

// Genes go to and fro; at each moment of a job the primary of its source's shard is changed and killed, and that of its target's.
func TestJobsGoOnAtEachMoment(t *testing.T) {
	moments := slices.Concat([]string{copying, ready, partly, reversed, retiring}, cutover.Points[:len(cutover.Points)-1])
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		m := moves(t, engine, "s0")
		from, to := router.ShardName("s0"), router.ShardName("s1")
		lost := 0
		for _, moment := range moments {
			for _, c := range []change{ordered, killed} {
				for range 2 {
					m.wantReady(t)
					if err := m.move(t, from, to, map[string]change{moment: c}); err != nil {
						lost++
						m.tell(t, job.Just("abort", phase.Abort))
						must(t, m.wait(t, "it is given up", func(st phase.State, _ job.Report) bool { return st.Phase == phase.Aborted }))
						continue
					}
					t.Logf("from %s, %s: %s", from, moment, c.name)
					from, to = to, from
				}
			}
		}
		m.wantAll(t, to)
		t.Logf("%d jobs, %d were given up since the new primary lacked what nobody was told to be written", m.begun, lost)
	})
}
