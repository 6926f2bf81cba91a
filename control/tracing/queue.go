package tracing

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// most bounds the spans that wait for the collector or are being sent.
const most = 8192

// queue is the queue before the collector. Spans are dropped and counted if it is full.
type queue struct {
	sdk.SpanProcessor
	to *counting
}

func newQueue(to *counting, timeout time.Duration) *queue {
	return &queue{sdk.NewBatchSpanProcessor(to, sdk.WithMaxQueueSize(most), sdk.WithMaxExportBatchSize(512), sdk.WithExportTimeout(timeout)), to}
}

func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if q.to.waiting.Add(1) > most {
		q.to.waiting.Add(-1)
		q.to.dropped.Add(1)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

func (q *queue) counts() Counts { return Counts{q.to.sent.Load(), q.to.dropped.Load()} }

// counting counts the spans that an exporter sends, and logs failures.
type counting struct {
	exporter sdk.SpanExporter
	ended    context.Context // ends when nothing may be sent any more
	log      *slog.Logger

	waiting       atomic.Int64
	sent, dropped atomic.Uint64

	mu     sync.Mutex // guards the fields below
	logged time.Time
}

// ExportSpans returns no error, since it handles errors itself.
func (c *counting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ended, cancel)()
	err := c.exporter.ExportSpans(ctx, spans)
	c.waiting.Add(-int64(len(spans)))
	if err == nil {
		c.sent.Add(uint64(len(spans)))
		return nil
	}
	c.dropped.Add(uint64(len(spans)))
	c.complain(err, time.Now())
	return nil
}

// quiet is the minimum interval between two log lines.
const quiet = time.Minute

func (c *counting) complain(err error, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.logged) < quiet {
		return
	}
	c.logged = now
	c.log.Warn("spans were not sent", slog.Any("error", err), slog.Uint64("dropped", c.dropped.Load()))
}

func (c *counting) Shutdown(ctx context.Context) error { return c.exporter.Shutdown(ctx) }
