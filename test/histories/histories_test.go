package histories

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// TestMoves splits, rolls back, continues and merges without any fault: no client may see an error. All reads
// of the split's genes are mirrored, and none may be reported as different.
func TestMoves(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := openAs(t, engine, world{hold: 12 * time.Second}) // a machine that is full makes steps slow, and that is no error
		w.startProxies(t)
		w.fill(t)
		c := w.clients(t.Context())
		c.pace = 30 * time.Millisecond
		c.start(16)
		w.plan(t, "split-1", job.Split, "s0", "s2")
		w.phase(t, "split-1", phase.Ready)
		w.mirror(t, "split-1", 100)
		for _, leg := range []struct{ to, step float64 }{{60, 10}, {20, 20}, {100, 20}, {0, 50}, {100, 50}} {
			w.cut(t, "split-1", leg.to, leg.step)
			w.arrived(t, "split-1", leg.to)
		}
		w.nothingDiffered(t, "split-1")
		w.finish(t, "split-1")
		w.phase(t, "split-1", phase.Done)
		w.plan(t, "merge-2", job.Merge, "s2", "s0")
		w.phase(t, "merge-2", phase.Ready)
		w.cut(t, "merge-2", 100, 25)
		w.phase(t, "merge-2", phase.Cut)
		w.finish(t, "merge-2")
		w.phase(t, "merge-2", phase.Done)
		c.stop(t)
		if steps := w.steps(t); steps < 20 {
			t.Errorf("genes changed hands only %d times", steps)
		}
		for f, n := range c.errors {
			t.Errorf("%d times: %s", n, f.text)
		}
		w.nothingRecorded(t)
		c.verdict(t)
	})
}

// arrived waits until a cut-over has reached its target.
func (w *world) arrived(t *testing.T, id string, percent float64) {
	t.Helper()
	w.state(t, id, fmt.Sprintf("at %v %%", percent), func(s phase.State) bool {
		return s.Cut == s.Genes(percent) && s.Phase != phase.RollingBack
	})
}

// run is clients and who watches fences, until they are stopped.
type run struct {
	*clients
	world  *world
	ctx    context.Context
	end    context.CancelFunc
	fences *fences
	ending context.CancelFunc
}

func (w *world) clients(ctx context.Context) *run {
	r := &run{clients: &clients{record: newRecord(), world: w, pace: 2 * time.Millisecond, seed: cmp.Or(w.seed, seed())}, world: w}
	r.ctx, r.end = context.WithCancel(ctx)
	var watching context.Context
	watching, r.ending = context.WithCancel(ctx)
	r.fences = w.watchFences(watching, r.record)
	return r
}

// seedVariable is the variable with the seed of the clients' random operations.
const seedVariable = "LOCUS_TEST_HISTORIES_SEED"

func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		return n
	}
	return rand.Uint64N(1_000_000)
}

func (r *run) start(n int) { r.clients.start(r.ctx, n) }

func (r *run) stop(t *testing.T) {
	t.Helper()
	r.end()
	r.running.Wait()
	r.ending()
	r.fences.running.Wait()
	r.world.settled(t)
}

// verdict logs the operations and their results, and fails the test if anything is wrong.
func (r *run) verdict(t *testing.T) {
	t.Helper()
	wrong := append(r.world.check(t, r.record), r.world.strays(t)...)
	waits := r.fences.waits(r.record, r.world.hot != nil)
	t.Logf("seed %d: %d steps and %d fences, %d statements; %d on held genes took p50 %v, p99 %v, at most %v",
		r.seed, r.world.steps(t), len(r.fences.spans), r.statement, len(waits), quantile(waits, 0.5), quantile(waits, 0.99), quantile(waits, 1))
	outcomes := map[outcome]int{}
	for _, o := range r.transfers {
		outcomes[o]++
	}
	t.Logf("%d operations on registers, %d on items, %d on seats, %d tickets; %d transfers were committed, %d rolled back, of %d it is unknown; %d reads were told to begin again",
		len(r.registers), len(r.items), len(r.seats), len(r.tickets), outcomes[committed], outcomes[rolledBack], outcomes[unknown], r.begunAgain.Load())
	if len(wrong) > 0 {
		t.Errorf("%d things are wrong, such as\n%s", len(wrong), strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	}
}
