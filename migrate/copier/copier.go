package copier

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Lander writes chunks at the target; an [applier.Applier] is one.
type Lander interface {
	// OpenChunk comes before a chunk is read; Land or Abandon ends it.
	OpenChunk(l table.Lane) *applier.Opening
	Abandon(o *applier.Opening)
	// Land returns once the chunk is committed. ErrReadAgain wrote nothing.
	Land(ctx context.Context, o *applier.Opening, c applier.Chunk) error
}

// Config says what is copied and how fast.
type Config struct {
	Job            string
	Source, Target link.Server // of the target its checkpoints alone are read
	Tables         []*table.Table
	Parts          table.Parts   // the lander's
	Parallel       int           // lanes read side by side; 0 is 4
	Aim            time.Duration // of one chunk; 0 is 500 ms
	// ChunkBytes bounds a chunk, but for its last row; 0 is 4 MiB.
	ChunkBytes int
	// Filled: the column that locus makes is filled while rows are copied. Where it is not yet what the owner
	// says, the row is copied by it, and goes on by the stream once it is.
	Filled bool
	// Throttle is asked before each chunk and returns when it may be read; nil
	// never waits.
	Throttle func(ctx context.Context) error
}

// Copier copies one job's rows.
type Copier struct {
	config Config
	lander Lander
	lanes  []*lane
	tables []*counted

	// large is held while rows are read and written of a lane that has long ones:
	// memory has room for those of one lane.
	large sync.Mutex

	bytes, chunks atomic.Int64
}

// New prepares a copy; Run does it.
func New(config Config, lander Lander) *Copier {
	if config.Parallel == 0 {
		config.Parallel = 4
	}
	if config.Aim == 0 {
		config.Aim = 500 * time.Millisecond
	}
	if config.ChunkBytes == 0 {
		config.ChunkBytes = 4 << 20
	}
	c := &Copier{config: config, lander: lander}
	genes := config.Parts.All()
	for _, t := range config.Tables {
		of := &counted{name: t.Name.String()}
		for _, l := range t.Lanes(config.Parts) {
			one := newLane(l, of, int64(config.ChunkBytes))
			one.filled = config.Filled && t.Declared.MakesGene()
			c.lanes = append(c.lanes, one)
			of.lanes++
		}
		if all := int64(t.Declared.Width.Last()) + 1; all > 0 {
			of.estimate = int64(t.Estimate) * int64(genes.Len()) / all
		}
		c.tables = append(c.tables, of)
	}
	return c
}

// Run copies what is not copied yet. It returns nil once all rows are at the
// target, and otherwise what kept it from that; it may be called again.
func (c *Copier) Run(ctx context.Context) error {
	if len(c.lanes) == 0 {
		return errors.New("copy: there is nothing to copy: no tables, or no genes")
	}
	if err := c.resume(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan *lane, len(c.lanes))
	for _, l := range c.lanes {
		if !l.state.Done {
			queue <- l
		}
	}
	close(queue)
	var reading sync.WaitGroup
	for range min(c.config.Parallel, len(c.lanes)) {
		reading.Go(func() {
			for l := range queue {
				if err := c.lane(ctx, l); err != nil {
					cancel(fmt.Errorf("copy %s: %w", l.Table.Name, err))
					return
				}
			}
		})
	}
	reading.Wait()
	return context.Cause(ctx)
}

// resume reads how far the lanes are.
func (c *Copier) resume(ctx context.Context) error {
	conn, err := link.Dial(ctx, c.config.Target)
	if err != nil {
		return err
	}
	defer conn.Close()
	states, err := checkpoint.Lanes(ctx, conn, c.config.Job, checkpoint.Copy)
	if err != nil {
		return err
	}
	c.bytes.Store(0)
	for _, t := range c.tables {
		t.rows.Store(0)
		t.done.Store(0)
	}
	for _, l := range c.lanes {
		l.state = states[l.Name()]
		if l.through, err = table.DecodeKey(l.state.Through, len(l.Table.PrimaryKey)); err != nil {
			return fmt.Errorf("resume the copy of %s: %w", l.Table.Name, err)
		}
		l.of.rows.Add(int64(l.state.Rows))
		c.bytes.Add(int64(l.state.Bytes))
		if l.state.Done {
			l.of.done.Add(1)
		}
	}
	return nil
}

// lane copies one lane to its end.
func (c *Copier) lane(ctx context.Context, l *lane) error {
	var conn *link.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	l.begin()
	for tries := 0; !l.state.Done; {
		if c.config.Throttle != nil {
			if err := c.config.Throttle(ctx); err != nil {
				return err
			}
		}
		if conn == nil || conn.Broken() != nil {
			if conn != nil {
				_ = conn.Close()
			}
			var err error
			if conn, err = link.Dial(ctx, c.config.Source); err != nil {
				return err
			}
		}
		err := c.chunk(ctx, conn, l)
		switch {
		case err == nil:
			tries = 0
		case errors.Is(err, applier.ErrReadAgain), conn.Broken() != nil && ctx.Err() == nil:
			if tries++; tries > 10 {
				return err
			}
			l.size = max(l.size/2, 1)
		default:
			return err
		}
	}
	l.of.done.Add(1)
	return nil
}

// chunk copies the next piece of a lane.
func (c *Copier) chunk(ctx context.Context, conn *link.Conn, l *lane) error {
	if l.long {
		c.large.Lock()
		defer c.large.Unlock()
	}
	began := time.Now()
	opening := c.lander.OpenChunk(l.Lane)
	chunk, next, err := l.read(ctx, conn, c.config.ChunkBytes)
	if err != nil {
		c.lander.Abandon(opening)
		return err
	}
	if len(chunk.Rows) == 0 && !next.state.Done { // some of very many ranges, and no rows there
		c.lander.Abandon(opening)
		l.step = next.step
		return nil
	}
	if conn.Broken() != nil { // the rest of a large result was not waited for
		if err := conn.Redial(ctx, c.config.Source); err != nil {
			c.lander.Abandon(opening)
			return err
		}
	}
	if chunk.Mark, err = changes.ReadMark(ctx, conn); err != nil {
		c.lander.Abandon(opening)
		return err
	}
	if err := c.lander.Land(ctx, opening, chunk); err != nil {
		c.lander.Abandon(opening)
		return err
	}
	l.advance(next, chunk, time.Since(began), c.config.Aim)
	l.of.rows.Add(int64(len(chunk.Rows)))
	c.bytes.Add(int64(chunk.Bytes))
	c.chunks.Add(1)
	return nil
}
