package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/control/declared"
	"locus/control/jobs"
	"locus/internal/test/servers"
	"locus/migrate"
	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router"
)

// moving is a cluster whose genes move back and forth between a shard with three servers and one with a single
// server, while clients write and the primary of the former shard changes.
type moving struct {
	*stand
	store *jobs.Store
	load  *load
	job   string                             // the last one
	begun int                                // jobs
	stop  atomic.Pointer[func(point string)] // of the steps
}

// copied is the number of rows in addition to those that clients write.
const copied = 3000

// stepTime is for how long a step of a cut-over may hold statements: the default.
const stepTime = 1500 * time.Millisecond

func moves(t *testing.T, engine servers.Engine, owner router.ShardName) *moving {
	t.Helper()
	s := replicated(t, engine, 4, "0xffff "+string(owner))
	m := &moving{stand: s, store: jobs.New(s.kv, "mover", s.secret)}
	db := s.db(t, 0, "app")
	for first := 0; first < copied; first += 1000 {
		var rows []string
		for i := range 1000 {
			rows = append(rows, fmt.Sprintf("(%d, 1)", 10_000+first+i))
		}
		if _, err := db.Exec("INSERT INTO counter (uid, n) VALUES " + strings.Join(rows, ",")); err != nil {
			t.Fatal(err)
		}
	}
	m.load = s.load(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	runner := &migrate.Runner{
		Store: m.store, Name: "mover", Log: slog.New(slog.DiscardHandler), Times: migrate.Times{Look: 100 * time.Millisecond, Within: stepTime},
		Stop: func(point string) {
			if stop := m.stop.Load(); stop != nil {
				(*stop)(point)
			}
		},
	}
	var running sync.WaitGroup
	running.Go(func() { _ = runner.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *moving) begin(t *testing.T, from, to router.ShardName) {
	t.Helper()
	now, err := declared.Current(t.Context(), m.kv)
	must(t, err)
	m.begun++
	m.job = fmt.Sprintf("split-%d", m.begun)
	j, err := job.New(m.job, job.Split, from, to, now.Routes.Width(), now.Routes.GenesOf(from), "test", "", time.Now())
	must(t, err)
	j.Throttle = job.MostRest
	must(t, m.store.Create(t.Context(), j))
}

func (m *moving) tell(t *testing.T, o job.Order) {
	t.Helper()
	_, err := m.store.Tell(t.Context(), m.job, o, "test", time.Now(), nil)
	must(t, err)
}

// errLost means that the job has read transactions that the new primary lacks. They were never acknowledged.
var errLost = errors.New("the job has failed, as it must")

// wait waits until the job's state is as wanted.
func (m *moving) wait(t *testing.T, what string, is func(phase.State, job.Report) bool) (lost error) {
	t.Helper()
	servers.Eventually(t, what, func() error {
		read, err := m.store.Read(t.Context(), m.job)
		if err != nil {
			return err
		}
		all, err := m.store.Reports(t.Context())
		switch st := read.Job.State; {
		case err != nil:
			return err
		case is(st, all[m.job]):
			return nil
		case st.Phase == phase.Failed && strings.Contains(st.Why, "lacks transactions that were read"):
			t.Logf("%s: %s", what, st.Why)
			lost = errLost
			return nil
		case st.Phase == phase.Failed:
			t.Fatalf("%s: the job has failed: %s", what, st.Why)
			return nil
		default:
			return fmt.Errorf("it is %+v, %+v; %v", st, all[m.job], read.Job.Journal[max(0, len(read.Job.Journal)-3):])
		}
	})
	return lost
}

// change is a way for another server to become the primary; it returns once the one before is given up, or is gone.
type change struct {
	name  string
	begun func(*testing.T, *moving) (ended func())
}

// ordered is one that an operator wants.
var ordered = change{"switchover", func(t *testing.T, m *moving) func() {
	before := m.primary(t)
	done := make(chan error, 1)
	go func() {
		var err error
		for range 50 { // a process that finds another role change in progress for too long undoes it
			if _, err = m.to((before + 1) % 3).Run(t.Context()); err == nil {
				break
			}
		}
		done <- err
	}()
	servers.Eventually(t, "it begins", func() error {
		p, err := declared.ReadPrimary(t.Context(), m.kv, "s0")
		if err == nil && p.Next == "" && p.Server == m.addr(before) {
			err = errors.New("it hasn't")
		}
		return err
	})
	return func() { must(t, <-done) }
}}

// killed is a primary that is killed, and started again.
var killed = change{"kill", func(t *testing.T, m *moving) func() {
	before := m.primary(t)
	must(t, m.servers[before].Kill())
	return func() {
		m.wantNamedAnother(t, before)
		m.servers[before].Restart(t)
		m.wantJoined(t, before)
	}
}}

// within changes the primary when a step has reached one of its points, and lets the step continue.
func (m *moving) within(t *testing.T, point string, c change) (ended func()) {
	t.Helper()
	reached, goOn := make(chan struct{}), make(chan struct{})
	var once, late sync.Once
	stop := func(at string) {
		if point == cutover.BeforeRelease && at == cutover.BeforeCommit { // a point that only a failing step reaches
			late.Do(func() { <-time.After(stepTime) })
		}
		if at == point {
			once.Do(func() { close(reached); <-goOn })
		}
	}
	m.stop.Store(&stop)
	return func() {
		<-reached
		ended := c.begun(t, m)
		close(goOn)
		ended()
		m.stop.Store(nil)
	}
}

// Moments of a job in addition to the points of a step.
const (
	planned     = "planned"
	copying     = "copying"
	verifying   = "the copy is compared"
	ready       = "ready"
	partly      = "half of the genes are at the target"
	rollingBack = "they go back"
	reversed    = "all of them are there"
	retiring    = "the source's rows are deleted"
)

// move moves all genes, and has the primary change at some moments.
func (m *moving) move(t *testing.T, from, to router.ShardName, at map[string]change) error {
	t.Helper()
	now := func(moment string) {
		if c, wanted := at[moment]; wanted {
			c.begun(t, m)()
		}
	}
	in := func(phases ...phase.Phase) func(phase.State, job.Report) bool {
		return func(st phase.State, _ job.Report) bool { return slices.Contains(phases, st.Phase) }
	}
	m.begin(t, from, to)
	now(planned)
	if err := m.wait(t, "rows are copied", func(_ phase.State, r job.Report) bool { return r.RowsCopied > 0 }); err != nil {
		return err
	}
	now(copying)
	m.tell(t, job.Throttle(0))
	if err := m.wait(t, "it compares", in(phase.Verifying, phase.Ready)); err != nil {
		return err
	}
	now(verifying)
	if err := m.wait(t, "it is ready", in(phase.Ready)); err != nil {
		return err
	}
	now(ready)
	stepped := func() {}
	for _, point := range cutover.Points {
		if c, wanted := at[point]; wanted {
			stepped = m.within(t, point, c)
		}
	}
	share := func(percent float64) func(phase.State, job.Report) bool {
		return func(st phase.State, _ job.Report) bool { return st.Percent() == percent }
	}
	m.tell(t, job.CutOver(50, 50, 0, job.PauseThen))
	stepped()
	if err := m.wait(t, "half is there", share(50)); err != nil {
		return err
	}
	now(partly)
	if _, wanted := at[rollingBack]; wanted {
		m.tell(t, job.Back(0, 50))
		now(rollingBack)
		if err := m.wait(t, "all is back", func(st phase.State, _ job.Report) bool { return st.Phase == phase.Ready && st.Percent() == 0 }); err != nil {
			return err
		}
		m.tell(t, job.CutOver(50, 50, 0, job.PauseThen))
		if err := m.wait(t, "half is there again", share(50)); err != nil {
			return err
		}
	}
	m.tell(t, job.CutOver(100, 50, 0, job.PauseThen))
	if err := m.wait(t, "all is there", in(phase.Cut)); err != nil {
		return err
	}
	began := time.Now()
	now(reversed)
	if err := m.wait(t, "the servers are compared", func(st phase.State, r job.Report) bool { return r.Verified.After(began) || at[reversed].begun == nil }); err != nil {
		return err
	}
	m.tell(t, job.Just("finish", phase.Finish))
	now(retiring)
	return m.wait(t, "it is over", in(phase.Done))
}

// wantAll checks that all acknowledged writes are in the rows, and that each row is on one shard.
func (m *moving) wantAll(t *testing.T, empty router.ShardName) {
	t.Helper()
	m.load.more(t, 50)
	m.load.end()
	m.wantAcknowledgedOf(t, m.load, copied)
	at := 3
	if empty == "s0" {
		at = m.primary(t)
	}
	if left := m.sum(t, at); left != 0 {
		t.Errorf("shard %s has none of the genes, and rows that come to %d", empty, left)
	}
}

// A job continues when a primary changes. With one engine the primary of the source's shard changes, and with the other engine
// the primary of the target's shard.
func TestJobsGoOn(t *testing.T) {
	ends := map[servers.Engine][2]router.ShardName{servers.MariaDB: {"s0", "s1"}, servers.MySQL: {"s1", "s0"}}
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		from, to := ends[engine][0], ends[engine][1]
		m := moves(t, engine, from)
		err := m.move(t, from, to, map[string]change{copying: ordered, cutover.BeforeReverse: ordered, reversed: killed})
		if errors.Is(err, errLost) {
			return
		}
		m.wantAll(t, from)
	})
}
