package histories

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/migrate/cutover"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router/cluster"
	harness "locus/test/cluster"
)

// fault breaks something while the mover, which is one of the proxies' processes, waits at a stop point of a
// step, or has just continued from there. The returned function returns when everything runs again.
type fault struct {
	name   string
	strike func(w *world, t *testing.T, mover int) (mend func())
}

// moment is the time of a fault: while the step waits at the point, or during the next action.
type moment string

const (
	at    moment = "at"
	after moment = "after"
)

var (
	killMover = fault{"kill the mover", func(w *world, t *testing.T, mover int) func() {
		w.killProxy(t, mover)
		return func() { w.startProxy(t, mover) }
	}}
	// stopMover suspends the mover until another one runs the job, and then continues it.
	stopMover = fault{"stop the mover", func(w *world, t *testing.T, mover int) func() {
		p := w.Proxies[mover]
		w.stopProxy(t, p)
		return func() {
			w.awaitMoverBeside(t, p.Addr())
			p.Continue()
		}
	}}
	killProxy = fault{"kill a proxy", func(w *world, t *testing.T, mover int) func() {
		other := (mover + 1) % len(w.Proxies)
		w.killProxy(t, other)
		return func() {
			w.progress(t)
			w.startProxy(t, other)
		}
	}}
	// stopProxy stops one for longer than its lease, until genes have changed hands
	// without it.
	stopProxy = fault{"stop a proxy", func(w *world, t *testing.T, mover int) func() {
		other := w.Proxies[(mover+1)%len(w.Proxies)]
		w.stopProxy(t, other)
		return func() {
			harness.Until(t, "its lease has run out", func() (bool, error) {
				_, revision, err := w.KV.Get(t.Context(), cluster.ProxyPrefix+other.Addr())
				return err == nil && revision == 0, err
			})
			w.progress(t)
			other.Continue()
		}
	}}
	// loseProxy suspends a proxy, so that its lease expires while the fence waits for it.
	loseProxy = fault{"lose a proxy", func(w *world, t *testing.T, mover int) func() {
		other := w.Proxies[(mover+1)%len(w.Proxies)]
		w.stopProxy(t, other)
		outlast(t, harness.Lease/2)
		return func() {
			w.progress(t)
			other.Continue()
		}
	}}
	killEtcd = fault{"kill etcd", func(w *world, t *testing.T, _ int) func() {
		w.struck.etcd = true
		w.Etcd.Kill()
		return func() { w.Etcd.Start() }
	}}
	stopEtcd = fault{"stop etcd", func(w *world, t *testing.T, _ int) func() {
		w.struck.etcd = true
		w.Etcd.Stop()
		return func() {
			outlast(t, harness.Lease*3/2)
			w.Etcd.Continue()
		}
	}}
	killSource = fault{"kill the source", func(w *world, t *testing.T, _ int) func() { return w.killServer(t, 0) }}
	killTarget = fault{"kill the target", func(w *world, t *testing.T, _ int) func() { return w.killServer(t, 2) }}
	stopSource = fault{"stop the source", func(w *world, t *testing.T, _ int) func() { return w.stopServer(t, 0) }}
	stopTarget = fault{"stop the target", func(w *world, t *testing.T, _ int) func() { return w.stopServer(t, 2) }}

	faults = []fault{
		killMover, stopMover, killProxy, stopProxy, loseProxy, killEtcd, stopEtcd, killSource, killTarget, stopSource, stopTarget,
	}
)

func (w *world) killProxy(t *testing.T, i int) {
	t.Helper()
	w.struck.processes[w.Proxies[i].Addr()] = true
	w.Proxies[i].Kill()
}

func (w *world) stopProxy(t *testing.T, p *harness.Proxy) {
	t.Helper()
	w.struck.processes[p.Addr()] = true
	p.Stop()
}

func (w *world) killServer(t *testing.T, i int) (mend func()) {
	t.Helper()
	w.struck.shards = append(w.struck.shards, fmt.Sprintf("shard s%d", i))
	w.Shards[i].Kill()
	return w.Shards[i].Start
}

func (w *world) stopServer(t *testing.T, i int) (mend func()) {
	t.Helper()
	w.struck.shards = append(w.struck.shards, fmt.Sprintf("shard s%d", i))
	w.Shards[i].Stop()
	return func() {
		outlast(t, harness.Lease*3/2)
		w.Shards[i].Continue()
	}
}

// outlast lets a fault last for a duration.
func outlast(t *testing.T, d time.Duration) {
	t.Helper()
	since := time.Now()
	harness.Until(t, "it was broken for long enough", func() (bool, error) { return time.Since(since) > d, nil })
}

// splitting is the job that the faults strike.
const splitting = "split-1"

// claimant returns the process that runs the job, or "".
func (w *world) claimant(t *testing.T) (string, error) {
	name, _, err := w.KV.Get(t.Context(), job.ClaimPrefix+splitting)
	return string(name), err
}

func (w *world) awaitMoverBeside(t *testing.T, name string) {
	t.Helper()
	harness.Until(t, "another process runs the job", func() (bool, error) {
		now, err := w.claimant(t)
		return err == nil && now != "" && now != name, err
	})
}

// strike lets a fault happen at a point of the next step, or after it, and waits until the job continues by
// itself.
func (w *world) strike(t *testing.T, when moment, point string, f fault) {
	t.Helper()
	began := time.Now()
	let := func() {}
	var mover int
	if point == cutover.BeforeRelease { // only a step that fails comes there
		mover, let = w.awaitFailing(t)
	} else {
		w.arm(point)
		mover, _ = w.awaitStopAt(t, func() { w.shuttle(t) }, point)
	}
	for i, p := range w.Proxies {
		if i != mover {
			p.Tell("stop nowhere")
			p.Tell("go") // this process may have run the job before, and have stopped at the point as well
		}
	}
	let()
	there := time.Now()
	if when == after {
		w.Proxies[mover].Tell("go")
	}
	mend := f.strike(w, t, mover)
	if when == at {
		w.Proxies[mover].Tell("go")
	}
	mend()
	w.progress(t)
	t.Logf("%s %s %q: there after %v, on after %v more", f.name, when, point,
		there.Sub(began).Round(time.Millisecond), time.Since(there).Round(time.Millisecond))
}

// arm makes every process stop at the points, once at each.
func (w *world) arm(points ...string) {
	for _, p := range w.Proxies {
		p.Tell("stop " + strings.Join(points, " "))
	}
}

// disobedience is how long a step may take to fail because a proxy was stopped just before the fence.
const disobedience = 10 * time.Second

// awaitFailing waits until a step fails because a proxy does not obey its fence: the proxy is suspended after
// the step has checked everything else, and its lease has not expired yet. let continues that proxy.
func (w *world) awaitFailing(t *testing.T) (mover int, let func()) {
	t.Helper()
	for {
		w.arm(cutover.BeforeFence, cutover.BeforeRelease)
		mover, point := w.awaitStopAt(t, func() { w.shuttle(t) }, cutover.BeforeFence, cutover.BeforeRelease)
		if point == cutover.BeforeRelease {
			return mover, func() {}
		}
		other := w.Proxies[(mover+1)%len(w.Proxies)]
		w.stopProxy(t, other)
		let := func() { other.Continue() }
		w.Proxies[mover].Tell("go")
		if w.stopsSoon(t, mover, cutover.BeforeRelease) {
			return mover, let
		}
		let() // the machine was slow, and its lease had ended before the fence
	}
}

// stopsSoon reports whether a process reaches a point.
func (w *world) stopsSoon(t *testing.T, mover int, point string) (stops bool) {
	t.Helper()
	since := time.Now()
	harness.Until(t, "a step fails, or not", func() (bool, error) {
		line, _ := w.Proxies[mover].Said()
		stops = line == "at "+point
		return stops || time.Since(since) > disobedience, nil
	})
	return stops
}

// awaitStopAt waits until a process has stopped at one of the points, and returns both.
func (w *world) awaitStopAt(t *testing.T, meanwhile func(), points ...string) (mover int, point string) {
	t.Helper()
	harness.Until(t, fmt.Sprintf("a step comes to %v", points), func() (bool, error) {
		for i, p := range w.Proxies {
			line, _ := p.Said()
			if point = strings.TrimPrefix(line, "at "); slices.Contains(points, point) {
				mover = i
				return true, nil
			}
		}
		meanwhile()
		return false, nil
	})
	return mover, point
}

// shuttle lets the job move back and forth in small steps: when it has arrived, it is sent back.
func (w *world) shuttle(t *testing.T) {
	t.Helper()
	s, err := w.Jobs.Read(t.Context(), splitting)
	if err != nil {
		return // etcd is down
	}
	at := s.Job.State
	switch action, _ := at.Next(); {
	case at.Phase == phase.Failed:
		w.failed(t, s.Job)
	case action != phase.Keep:
	case at.Cut == at.Total:
		w.cut(t, splitting, 0, w.stride)
	case at.Cut == 0 && at.Phase == phase.Ready:
		w.cut(t, splitting, 100, w.stride)
	}
}

// progress waits until genes have changed hands again.
func (w *world) progress(t *testing.T) {
	t.Helper()
	before := -1
	harness.Until(t, "genes change hands again", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		if s.Job.State.Phase == phase.Failed {
			w.failed(t, s.Job)
		}
		w.shuttle(t)
		if before < 0 {
			before = s.Job.State.Cut
		}
		return s.Job.State.Cut != before, errors.New(s.Job.Journal[len(s.Job.Journal)-1].What)
	})
	w.stepped++
}

// underFaults moves genes to and fro while faults strike, and then to the end.
func underFaults(t *testing.T, w *world, strike func()) {
	w.startProxies(t)
	w.fill(t)
	c := w.clients(t.Context())
	c.pace, c.dwell = w.pace, 200*time.Millisecond
	c.start(16)
	w.plan(t, splitting, job.Split, "s0", "s2")
	w.phase(t, splitting, phase.Ready)
	strike()
	w.cutToEnd(t)
	w.finish(t, splitting)
	w.phase(t, splitting, phase.Done)
	c.stop(t)
	w.checkErrors(t, c.record)
	c.verdict(t)
}

// last returns the percentage of the last step if all genes go to the target.
func (w *world) last() float64 {
	if w.hot != nil {
		return w.stride
	}
	return 5
}

// cutToEnd moves all genes to the target, wherever they are.
func (w *world) cutToEnd(t *testing.T) {
	t.Helper()
	harness.Until(t, "order all to the target", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), splitting)
		if err != nil {
			return false, err
		}
		_, err = s.Job.State.On(phase.Event{Kind: phase.CutTo, Genes: s.Job.State.Total, Step: 1})
		if s.Job.State.Phase == phase.Cut {
			return true, nil
		}
		if err == nil {
			w.cut(t, splitting, 100, w.last())
		}
		return err == nil, err
	})
	w.phase(t, splitting, phase.Cut)
}
