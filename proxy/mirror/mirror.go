package mirror

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"locus/proxy/backend"
	"locus/proxy/meter"
	"locus/router"
)

// Config configures a Mirror.
type Config struct {
	Pools *backend.Registry
	Map   func() *router.Map // the current map
	// Applied waits until a job's stream has applied at the target everything that the source has logged by now, or ctx ends.
	// If it is nil, all differences are unsettled.
	Applied func(ctx context.Context, job string, from, to router.ShardName) error
	Log     *slog.Logger

	Deadline time.Duration // time limit of a copy; default 5 s
	Patience time.Duration // time limit of a wait for the stream, per check; default 15 s
	Pause    time.Duration // interval between checks of differences, and between attempts to reach a target that is down; default 1 s
}

const (
	// workers is the number of goroutines that send copies. Each uses one connection of a target's pool at a time.
	workers = 4
	// mostWaiting is the greatest number of waiting copies, each of at most mostText bytes.
	mostWaiting = 256
)

// Mirror mirrors a proxy's reads. It is safe for concurrent use.
type Mirror struct {
	config Config
	queue  chan *Read
	times  meter.Moves
	again  doubtful

	mu   sync.Mutex // guards the fields below; never held across a wait
	jobs map[string]*figures
}

// New returns a Mirror. It sends nothing before Run.
func New(c Config) *Mirror {
	orDefault(&c.Deadline, 5*time.Second)
	orDefault(&c.Patience, 15*time.Second)
	orDefault(&c.Pause, time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Mirror{config: c, queue: make(chan *Read, mostWaiting), again: doubtful{more: make(chan struct{}, 1)}, jobs: map[string]*figures{}}
}

func orDefault(d *time.Duration, otherwise time.Duration) {
	if *d <= 0 {
		*d = otherwise
	}
}

// Chooses reports, at random, whether a read of a move is mirrored.
func (*Mirror) Chooses(move *router.Move) bool {
	return move.Mirror > 0 && rand.IntN(100) < move.Mirror
}

// Offer queues a read whose answer the client has received. It copies all data that it keeps and never blocks. If the queue is
// full, the read is dropped and counted.
func (m *Mirror) Offer(r *Read, source Answer) {
	m.mu.Lock()
	f := m.jobs[r.Job]
	free := len(m.queue) < cap(m.queue)
	if f != nil {
		f.Sampled++
		switch {
		case !free:
			f.Dropped++
		case f.outage.skips(time.Now()):
			f.Unsent++
			free = false
		}
	}
	m.mu.Unlock()
	if f == nil || !free {
		return
	}
	r.detach()
	r.source = source
	select {
	case m.queue <- r:
	default: // another session took the place
		m.count(r, func(f *figures) { f.Dropped++ })
	}
}

// Skip counts a sampled read that is too long to copy or compare.
func (m *Mirror) Skip(job string) {
	m.count(&Read{Job: job}, func(f *figures) {
		f.Sampled++
		f.TooLong++
	})
}

// count changes the figures of a read's job, if the job still exists.
func (m *Mirror) count(r *Read, change func(*figures)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.jobs[r.Job]; f != nil {
		change(f)
	}
}

// Run sends copies and compares answers until ctx ends.
func (m *Mirror) Run(ctx context.Context) {
	var tasks sync.WaitGroup
	for range workers {
		tasks.Go(func() { m.work(ctx) })
	}
	tasks.Go(func() { m.settle(ctx) })
	tasks.Wait()
}

func (m *Mirror) work(ctx context.Context) {
	var in Reader
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-m.queue:
			m.repeat(ctx, r, &in)
		}
	}
}

// repeat sends a read to the target and compares the answers.
func (m *Mirror) repeat(ctx context.Context, r *Read, in *Reader) {
	send := false
	mirrored := r.isMirrored(m.config.Map())
	m.count(r, func(f *figures) {
		if send = mirrored && f.outage.admit(time.Now(), m.config.Pause); !send {
			f.Unsent++
		}
	})
	if !send {
		return
	}
	answer, err := m.ask(ctx, r.To, r, in)
	if ctx.Err() != nil {
		return
	}
	m.times.Add(r.Job, meter.Source, r.source.Took, false)
	switch {
	case late(err):
		m.times.Add(r.Job, meter.Target, m.config.Deadline, true)
		m.count(r, func(f *figures) { f.Late++ })
	case err != nil:
		m.count(r, func(f *figures) {
			f.Failed++
			f.outage.note(err, time.Now(), m.config.Pause)
		})
	default:
		m.times.Add(r.Job, meter.Target, answer.Took, answer.Code != 0)
		m.compare(r, answer)
	}
}

// compare counts the target's answer, and schedules a check if it differs.
func (m *Mirror) compare(r *Read, answer Answer) {
	same := r.alike(r.source, answer)
	m.count(r, func(f *figures) {
		f.Compared++
		f.outage = outage{}
		if same && r.reordered(r.source, answer) {
			f.Reordered++
		}
	})
	if !same {
		m.doubt(r)
	}
}
