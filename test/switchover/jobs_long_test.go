//go:build long

package switchover

import (
	"fmt"
	"slices"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

// tries is how often a job is repeated for one moment. A job fails if it has read transactions that were not
// acknowledged and are lost.
const tries = 3

// journey records where the genes are, and the results of the jobs.
type journey struct {
	*moving
	at         router.ShardName
	done, lost int
}

// Genes move back and forth. At each moment of a job the primary of the source's shard is switched over and
// killed, and so is that of the target's shard.
func TestJobsGoOnAtEachMoment(t *testing.T) {
	moments := slices.Concat([]string{planned, copying, verifying, ready, partly, rollingBack, reversed, retiring}, cutover.Points)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		j := &journey{moving: moves(t, engine, "s0"), at: "s0"}
		each := func(moment string, once func(*testing.T, string, change) error) {
			for _, c := range []change{ordered, killed} {
				for _, from := range []router.ShardName{"s0", "s1"} {
					t.Run(fmt.Sprintf("%s, %s, from %s", moment, c.name, from), func(t *testing.T) { j.try(t, from, moment, c, once) })
					if t.Failed() {
						t.FailNow()
					}
				}
			}
		}
		for _, moment := range moments {
			each(moment, j.through)
		}
		each("aborting", j.givenUp)
		j.wantAll(t, j.other())
		t.Logf("%d jobs, %d went on, %d were given up since the new primary lacked what nobody was told to be written", j.begun, j.done, j.lost)
	})
}

func (j *journey) other() router.ShardName {
	if j.at == "s0" {
		return "s1"
	}
	return "s0"
}

// try runs a job from a shard with a change at the given moment, until one continues after the change.
func (j *journey) try(t *testing.T, from router.ShardName, moment string, c change, once func(*testing.T, string, change) error) {
	for range tries {
		if j.at != from {
			must(t, j.through(t, "", c))
		}
		j.wantReady(t)
		err := once(t, moment, c)
		if err == nil {
			j.done++
			return
		}
		if c.name == ordered.name {
			t.Fatalf("nothing is lost in a switchover: %v", err)
		}
		j.lost++
		j.abandon(t)
	}
	t.Errorf("%d jobs were given up, and none went on", tries)
}

// through moves all genes.
func (j *journey) through(t *testing.T, moment string, c change) error {
	err := j.move(t, j.at, j.other(), map[string]change{moment: c})
	if err == nil {
		j.at = j.other()
	}
	return err
}

// givenUp begins to move them, and leaves them where they are, with the change while they are given up.
func (j *journey) givenUp(t *testing.T, _ string, c change) error {
	j.begin(t, j.at, j.other())
	if err := j.wait(t, "rows are copied", func(_ phase.State, r job.Report) bool { return r.RowsCopied > 0 }); err != nil {
		return err
	}
	j.tell(t, job.Just("abort", phase.Abort))
	c.begun(t, j.moving)()
	return j.wait(t, "it is given up", aborted)
}

// abandon aborts the last job, which has failed.
func (j *journey) abandon(t *testing.T) {
	j.tell(t, job.Just("abort", phase.Abort))
	must(t, j.wait(t, "it is given up", aborted))
}

func aborted(st phase.State, _ job.Report) bool { return st.Phase == phase.Aborted }
