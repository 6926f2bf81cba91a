package mirror

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// mostDoubtful is the greatest number of reads that are checked again.
	mostDoubtful = 256
	// confirmations is how many consecutive checks must find a difference; see the package comment.
	confirmations = 2
	// mostChecks is the number of inconclusive checks after which a read is unsettled.
	mostChecks = 8
)

// doubtful contains the reads whose answers differed.
type doubtful struct {
	mu   sync.Mutex // guards list
	list []*doubt
	more chan struct{} // contains a token if list isn't empty; capacity 1
}

// doubt is one read whose answers differed. The list's lock guards times. All other fields belong to the goroutine that runs
// settle.
type doubt struct {
	read           *Read
	times          uint64 // number of times that this read had this outcome
	checks, seen   int
	source, target Answer // the answers when they last differed
}

// doubt schedules a read to be checked again.
func (m *Mirror) doubt(r *Read) {
	a := &m.again
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.list {
		if d.read.same(r) {
			d.times++
			return
		}
	}
	if len(a.list) >= mostDoubtful {
		m.count(r, func(f *figures) { f.Unsettled++ })
		return
	}
	a.list = append(a.list, &doubt{read: r, times: 1})
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// settle checks all reads that differ repeatedly until ctx ends.
func (m *Mirror) settle(ctx context.Context) {
	var in Reader
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.again.more:
		}
		for m.checkAll(ctx, &in); m.again.any(); m.checkAll(ctx, &in) {
			if !pause(ctx, m.config.Pause) {
				return
			}
		}
	}
}

func (a *doubtful) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.list) > 0
}

// all returns the current list, grouped by job.
func (a *doubtful) all() map[string][]*doubt {
	a.mu.Lock()
	defer a.mu.Unlock()
	by := map[string][]*doubt{}
	for _, d := range a.list {
		by[d.read.Job] = append(by[d.read.Job], d)
	}
	return by
}

// remove removes a doubt from the list and returns its times.
func (a *doubtful) remove(d *doubt) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.list[:0]
	for _, other := range a.list {
		if other != d {
			kept = append(kept, other)
		}
	}
	clear(a.list[len(kept):])
	a.list = kept
	return d.times
}

// checkAll checks the reads of all jobs once.
func (m *Mirror) checkAll(ctx context.Context, in *Reader) {
	for job, list := range m.again.all() {
		err := m.checkJob(ctx, job, list, in)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			m.config.Log.Debug("check a difference of a mirrored read again", "job", job, "error", err)
		}
		for _, d := range list {
			if d.checks++; d.checks >= mostChecks && d.seen < confirmations {
				m.giveUp(d)
			}
		}
	}
}

// giveUp removes a read after inconclusive checks, and counts it as unsettled.
func (m *Mirror) giveUp(d *doubt) {
	if times := m.again.remove(d); times > 0 {
		m.count(d.read, func(f *figures) { f.Unsettled += times })
	}
}

var errNoProgress = errors.New("the position of the stream can't be queried")

// checkJob checks the reads of one job once. It waits for the stream once for all of them. After an error the remaining reads are
// left to the next check.
func (m *Mirror) checkJob(ctx context.Context, job string, list []*doubt, in *Reader) error {
	before := make([]Answer, len(list))
	for i, d := range list {
		if !d.read.isMirrored(m.config.Map()) {
			d.checks = mostChecks // the genes were handed over, or the move is no longer mirrored
			continue
		}
		var err error
		if before[i], err = m.ask(ctx, d.read.From, d.read, in); err != nil {
			return err
		}
	}
	if err := m.applied(ctx, list[0].read); err != nil {
		return err
	}
	for i, d := range list {
		if d.checks >= mostChecks {
			continue
		}
		at, err := m.ask(ctx, d.read.To, d.read, in)
		if err != nil {
			return err
		}
		after, err := m.ask(ctx, d.read.From, d.read, in)
		if err != nil {
			return err
		}
		if d.read.isMirrored(m.config.Map()) {
			m.judge(d, before[i], at, after)
		}
	}
	return nil
}

func (m *Mirror) applied(ctx context.Context, of *Read) error {
	if m.config.Applied == nil {
		return errNoProgress
	}
	ctx, cancel := context.WithTimeout(ctx, m.config.Patience)
	defer cancel()
	return m.config.Applied(ctx, of.Job, of.From, of.To)
}

// verdict is the result of one check.
type verdict uint8

const (
	wasLag verdict = iota
	isMoving
	isDifferent
)

// verdictOn judges the target's answer by the source's answers from before and after the wait for the stream.
func verdictOn(r *Read, before, target, after Answer) verdict {
	switch {
	case r.alike(target, before) || r.alike(target, after):
		return wasLag
	case r.alike(before, after):
		return isDifferent
	}
	return isMoving
}

func (m *Mirror) judge(d *doubt, before, target, after Answer) {
	switch verdictOn(d.read, before, target, after) {
	case wasLag:
		times := m.again.remove(d)
		m.count(d.read, func(f *figures) { f.Lag += times })
		d.seen = confirmations // counts as settled
	case isMoving:
		d.seen = 0
	case isDifferent:
		if d.seen > 0 && !(d.read.alike(d.source, before) && d.read.alike(d.target, target)) {
			d.seen = 0
		}
		d.source, d.target = before, target
		if d.seen++; d.seen == confirmations {
			m.recordDifference(d)
		}
	}
}

// recordDifference counts, keeps and logs a difference.
func (m *Mirror) recordDifference(d *doubt) {
	times := m.again.remove(d)
	kept := differenceOf(d, times, m.config.Map().Width(), time.Now())
	m.count(d.read, func(f *figures) {
		f.Different += times
		f.keep(kept)
	})
	m.config.Log.Warn("mirrored reads differ", "job", kept.Job, "digest", kept.Digest, "gene", kept.Gene,
		"source_rows", kept.SourceRows, "target_rows", kept.TargetRows)
}

// pause waits for a duration. It returns false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
