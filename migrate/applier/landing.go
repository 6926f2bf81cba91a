package applier

import (
	"context"
	"slices"

	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/table"
)

// Chunk is a piece of a lane as read at the source.
type Chunk struct {
	Lane  table.Lane
	Range table.Range
	Rows  []table.Row
	Bytes int
	// Mark is the end of the source's log, read after the rows.
	Mark changes.Mark
	// State is the lane's checkpoint after the chunk is written.
	State checkpoint.Lane
}

// landing is a chunk that waits to be written at the target.
type landing struct {
	chunk    Chunk
	opening  *Opening
	position string     // the stream's position at the landing; empty if the worker is ahead
	done     chan error // capacity 1
}

// OpenLocked is OpenChunk for a chunk whose rows the caller locks at the source, from reading them until the
// chunk is written.
func (a *Applier) OpenLocked(ctx context.Context, l table.Lane) (*Opening, error) {
	o := newOpening(l)
	o.locked = true
	return o, a.open(ctx, o)
}

// OpenChunk must be called before a chunk of the lane is read at the source. The caller reads the chunk once the source shows
// everything before the opening's position; see [changes.WaitShown]. Land or Abandon ends the opening.
func (a *Applier) OpenChunk(ctx context.Context, l table.Lane) (*Opening, error) {
	o := newOpening(l)
	return o, a.open(ctx, o)
}

func (a *Applier) open(ctx context.Context, o *Opening) error {
	done := make(chan error, 1)
	err := a.ask(ctx, func() { a.requested = append(a.requested, request{o, done}) }, done)
	if err != nil {
		a.Abandon(o)
	}
	return err
}

// request is an opening that records no deletions yet.
type request struct {
	opening *Opening
	done    chan error // capacity 1
}

// begin begins the openings that were requested, after the changes before the feed's position were given to the workers.
func (a *Applier) begin(feed Feed) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.requested) == 0 {
		return
	}
	position := feed.Position()
	for _, r := range a.requested {
		r.opening.position = position
		a.openings[r.opening] = struct{}{}
		r.done <- nil
	}
	a.requested = nil
}

// Abandon ends an opening whose chunk is not written.
func (a *Applier) Abandon(o *Opening) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.openings, o)
	a.requested = slices.DeleteFunc(a.requested, func(r request) bool { return r.opening == o })
}

// Land writes the chunk's missing rows and the lane's checkpoint in one transaction. With ErrReadAgain it wrote
// nothing. After any other error it is unknown whether it wrote; the checkpoint shows that.
func (a *Applier) Land(ctx context.Context, o *Opening, c Chunk) error {
	l := &landing{chunk: c, opening: o, done: make(chan error, 1)}
	return a.ask(ctx, func() { a.landings = append(a.landings, l) }, l.done)
}

// land passes chunks to their workers once the stream has reached the position that they require.
func (a *Applier) land(ctx context.Context, feed Feed) error {
	for _, l := range a.due(feed.Mark()) {
		w := a.workers[l.chunk.Lane.Part]
		// The stream's earlier changes are written first.
		if len(w.pending.ops) > 0 {
			if err := w.flush(ctx, feed.Position()); err != nil {
				return err
			}
		}
		l.position = w.reached(feed.Position())
		if err := w.send(ctx, item{landing: l}); err != nil {
			l.done <- err
			return err
		}
	}
	return nil
}

// due removes the landings whose mark is reached, closes their openings, and drops rows deleted since.
func (a *Applier) due(mark changes.Mark) []*landing {
	a.mu.Lock()
	defer a.mu.Unlock()
	var due []*landing
	rest := a.landings[:0]
	for _, l := range a.landings {
		reached, err := mark.Reaches(l.chunk.Mark)
		switch {
		case err == nil && !reached:
			rest = append(rest, l)
			continue
		case err != nil && mark.IsZero(): // the feed is not connected yet
			rest = append(rest, l)
			continue
		}
		delete(a.openings, l.opening)
		if err != nil || l.opening.tooMany {
			l.done <- ErrReadAgain
			continue
		}
		if l.opening.cascadedOnto(l.chunk.Rows) {
			l.done <- ErrCascaded
			continue
		}
		l.chunk.Rows = l.opening.surviving(l.chunk.Rows)
		due = append(due, l)
	}
	clear(a.landings[len(rest):])
	a.landings = rest
	return due
}
