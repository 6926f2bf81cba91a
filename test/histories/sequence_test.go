package histories

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// openHot opens a world in which one gene is divided.
func openHot(t *testing.T, engine servers.Engine) *world {
	t.Helper()
	return openAs(t, engine, world{hot: newHot()})
}

// TestADividedGeneUnderFaults moves the rows of one gene back and forth by sequence under faults, which differ
// between the engines.
func TestADividedGeneUnderFaults(t *testing.T) {
	t.Parallel() // the test waits more than it works
	const between = 8
	type strike struct {
		when  moment
		point string
		fault fault
	}
	strikes := map[servers.Engine][]strike{
		servers.MariaDB: {{at, cutover.BeforePosition, killMover}, {after, cutover.BeforePosition, killTarget}},
		servers.MySQL:   {{at, cutover.AfterCommit, killMover}, {after, cutover.BeforeCommit, killSource}},
	}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		w := openHot(t, engine)
		w.stride, w.pace, w.seed = 10, 30*time.Millisecond, 20
		underFaults(t, w, func() {
			for _, s := range strikes[engine] {
				w.strike(t, s.when, s.point, s.fault)
				for range between {
					w.progress(t)
				}
			}
			w.part(t, 40)
			const copies = "DELETE FROM shop.mark WHERE (register_id & 0x3ffffffffff) %% 100 %s 40 ORDER BY mark_id LIMIT 3"
			w.equalised(t, 0, fmt.Sprintf(copies, "<"))
			w.equalised(t, 2, fmt.Sprintf(copies, ">="))
		})
		if steps := w.steps(t); steps < 2*between {
			t.Errorf("rows changed hands only %d times", steps)
		}
	})
}

// part brings the share of the rows at the target to a percentage.
func (w *world) part(t *testing.T, percent float64) {
	t.Helper()
	harness.Until(t, "a part is at the target", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		at := s.Job.State
		if action, _ := at.Next(); action != phase.Keep {
			return false, errors.New(string(at.Shown()))
		}
		if at.Cut == at.Genes(percent) {
			return true, nil
		}
		w.cut(t, splitting, percent, w.stride)
		return false, nil
	})
}

// TestWithoutTheConditionOfOwnership removes the condition that excludes other shards' rows. The clients must
// notice.
func TestWithoutTheConditionOfOwnership(t *testing.T) {
	t.Parallel()
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		w := openAs(t, engine, world{hot: newHot(), seed: 20, blinded: true})
		w.startProxies(t)
		w.fill(t)
		c := w.clients(t.Context())
		c.start(8)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		w.cut(t, splitting, 40, 100)
		w.state(t, splitting, "at 40 %", func(s phase.State) bool { return s.Cut == 40 })
		harness.Until(t, "clients notice", func() (bool, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.wrong) > 0, nil
		})
		c.end()
		c.running.Wait()
		c.ending()
		c.fences.running.Wait()
		t.Logf("%d things are wrong, such as %s", len(c.wrong), c.wrong[0])
	})
}
