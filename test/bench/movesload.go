package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// movesClients is the number of clients that write during a move: half of them to moving genes, half to others.
const movesClients = 16

// timing contains the times of the statements on one kind of genes.
type timing struct {
	mu     sync.Mutex // guards the fields below
	times  []time.Duration
	failed int
	why    error
}

func (t *timing) add(took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.times = append(t.times, took)
	if err != nil {
		t.failed++
		t.why = err
	}
}

// take returns the times since the last call.
func (t *timing) take() (times []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	times, t.times = t.times, nil
	slices.Sort(times)
	return times
}

// cutOver is how often the genes are cut over. All but the last cut-over are rolled back. There must be enough
// steps that hold statements for a 99th percentile.
const cutOver = 5

// split measures a whole split under load.
func (m *moves) split(ctx context.Context, r *report) error {
	id, err := m.begin(ctx)
	if err != nil {
		return err
	}
	if _, err := m.until(ctx, id, "ready"); err != nil {
		return err
	}
	var moved, others timing
	loading, stop := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for i := range movesClients {
		clients.Go(func() { m.write(loading, i, &moved, &others) })
	}
	defer func() { stop(); clients.Wait() }()
	watch := m.watch(loading)
	if err := sleep(ctx, 2*m.length); err != nil {
		return err
	}
	before, written := others.take(), len(moved.take())
	lag := watch.worstLag()
	var during []time.Duration
	for n := range cutOver {
		if n > 0 {
			if _, err := m.locus(ctx, "rollback", id, "--yes"); err != nil {
				return err
			}
			if _, err := m.until(ctx, id, "ready"); err != nil {
				return err
			}
		}
		others.take()
		if _, err := m.locus(ctx, "cutover", id, "--to", "100%", "--step", "5%", "--yes"); err != nil {
			return err
		}
		if _, err := m.until(ctx, id, "cut"); err != nil {
			return err
		}
		during = append(during, others.take()...)
	}
	slices.Sort(during)
	stop()
	clients.Wait()
	watch.running.Wait()
	held, err := m.held(id, "s2")
	if err != nil {
		return err
	}
	m.report(r, id, &moved, &others, before, during, held, lag, written)
	return nil
}

func (m *moves) report(r *report, id string, moved, others *timing, before, during []time.Duration, held holding, lag float64, written int) {
	failed, why := moved.failed+others.failed, ""
	for _, err := range []error{moved.why, others.why} {
		if err != nil {
			why = ": " + err.Error()
		}
	}
	ratio := float64(quantile(during, 0.99)) / float64(quantile(before, 0.99))
	r.figures = append(r.figures,
		figure{
			name: m.engine + ": statements that failed during a split", value: single(float64(failed)), judged: float64(failed), bound: bound{atMost, 0, 0},
			detail: fmt.Sprintf("%d clients on 3 proxies, %s to 100 %% by 5 %%, %d times%s", movesClients, id, cutOver, why),
		},
		figure{
			name: m.engine + ": statements held by a 5 % step, p99", value: spreadOf(held.whole), judged: quantileOf(held.whole, 0.99), unit: "ms", bound: bound{atMost, 50, 50},
			detail: fmt.Sprintf("%d steps in %d cut-overs, %v; judged by the slowest of a hundred", len(held.whole), cutOver, held),
		},
		figure{
			name: m.engine + ": other genes' p99 during the steps ÷ before", value: single(ratio), judged: ratio, digits: 2, bound: bound{atMost, 1.1, 1.1},
			detail: fmt.Sprintf("%.1f ms before, %.1f ms during, of %d statements", micros(quantile(before, 0.99))/1000, micros(quantile(during, 0.99))/1000, len(during)),
		},
		figure{
			name: m.engine + ": lag of the stream while clients write", value: single(lag), judged: lag, unit: "ms", bound: bound{atMost, 1000, 100},
			detail: fmt.Sprintf("the most that was seen; %.0f changes of moving genes per second", float64(written)/(2*m.length).Seconds()),
		})
}

// write updates and inserts orders until ctx ends, by one of the proxies.
func (m *moves) write(ctx context.Context, i int, moved, others *timing) {
	at := m.ready.proxy(i % len(m.ready.Proxies))
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		moved.add(0, err)
		return
	}
	defer c.Close()
	rng := rand.New(rand.NewPCG(uint64(i), 7))
	of := others
	if i%2 == 0 {
		of = moved
	}
	for n := 0; ctx.Err() == nil; n++ {
		uid := lastBuyer - rng.Int64N(100_000)
		for isMoved(uid) != (of == moved) {
			uid--
		}
		text := fmt.Sprintf("UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = %d", uid)
		if n%4 == 0 {
			text = fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, 1, 'new')", uid)
		}
		began := time.Now()
		_, err := c.Execute(text)
		if of.add(time.Since(began), err); err != nil {
			return
		}
	}
}

// watching reads how far a stream is behind from the table of moves, as people do.
type watching struct {
	mu      sync.Mutex // of lag
	lag     float64
	running sync.WaitGroup
}

func (m *moves) watch(ctx context.Context) *watching {
	w := &watching{}
	w.running.Go(func() {
		at := m.ready.proxy(0)
		c, err := client.Connect(at.addr, at.user, at.password, at.database)
		if err != nil {
			return
		}
		defer c.Close()
		for sleep(ctx, 20*time.Millisecond) == nil {
			r, err := c.Execute("SELECT lag_ms FROM locus.jobs")
			if err != nil || r.RowNumber() == 0 {
				continue
			}
			text, _ := r.GetString(r.RowNumber()-1, 0)
			lag, _ := strconv.ParseFloat(text, 64)
			w.mu.Lock()
			w.lag = max(w.lag, lag)
			w.mu.Unlock()
		}
	})
	return w
}

// worstLag returns the largest lag since the last call.
func (w *watching) worstLag() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	lag := w.lag
	w.lag = 0
	return lag
}

// holding is for how many milliseconds the steps of a job have held statements, each sorted.
type holding struct{ whole, fence, position, commit []float64 }

func (h holding) String() string {
	half := func(ms []float64) float64 { return quantileOf(ms, 0.5) }
	return fmt.Sprintf("from the fence to the commit (in the middle %.0f + %.0f + %.0f ms)", half(h.fence), half(h.position), half(h.commit))
}

var stepTaken = regexp.MustCompile(`msg="step taken" job=(\S+) to=(\S+) .*? held=(\S+) .*?fence=(\S+) position=(\S+) .*?commit=(\S+)`)

// held returns how long statements were held, from the logs of the processes that ran the steps. If to is set,
// only steps that gave genes to that shard count.
func (m *moves) held(job, to string) (h holding, err error) {
	for i := range m.ready.Proxies {
		log, err := os.ReadFile(filepath.Join(m.dir, "demo", "logs", fmt.Sprintf("proxy-%d.log", i)))
		if err != nil {
			return h, err
		}
		for _, line := range stepTaken.FindAllStringSubmatch(string(log), -1) {
			if line[1] != job || to != "" && line[2] != to {
				continue
			}
			for k, ms := range []*[]float64{&h.whole, &h.fence, &h.position, &h.commit} {
				took, err := time.ParseDuration(line[3+k])
				if err != nil {
					return h, err
				}
				*ms = append(*ms, float64(took)/float64(time.Millisecond))
			}
		}
	}
	if len(h.whole) == 0 {
		return h, fmt.Errorf("no log has a step of job %s", job)
	}
	for _, ms := range [][]float64{h.whole, h.fence, h.position, h.commit} {
		slices.Sort(ms)
	}
	return h, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
