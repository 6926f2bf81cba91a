package tracing

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	otel "go.opentelemetry.io/otel/trace"

	"locus/proxy/trace"
)

// Options configure the collector and the resource of spans.
type Options struct {
	Endpoint    string // URL of an OTLP/HTTP collector
	Sample      float64
	HeadersFile string
	CA          string // a PEM file; empty for the system's CAs
	Timeout     time.Duration

	Cluster, Instance, Version string
	Log                        *slog.Logger
}

// Spans sends spans. A nil Spans sends none.
type Spans struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	queue    *queue
	sample   float64
	cancel   context.CancelFunc // cancels requests in progress
}

// Open returns a Spans. It doesn't connect yet.
func Open(o Options) (*Spans, error) {
	client, err := newClient(o)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(o.Endpoint), otlptracehttp.WithHTTPClient(client), otlptracehttp.WithTimeout(o.Timeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: time.Second, MaxInterval: o.Timeout, MaxElapsedTime: o.Timeout}))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	counted := &counting{exporter: exporter, ended: ctx, log: o.Log}
	q := newQueue(counted, o.Timeout)
	s := &Spans{queue: q, sample: o.Sample, cancel: cancel}
	s.provider = sdk.NewTracerProvider(sdk.WithSampler(sdk.AlwaysSample()), sdk.WithSpanProcessor(q), sdk.WithResource(whose(o)))
	s.tracer = s.provider.Tracer("locus", otel.WithInstrumentationVersion(o.Version), otel.WithSchemaURL(semconv.SchemaURL))
	return s, nil
}

// whose returns the process as a resource, with the attributes of OTEL_RESOURCE_ATTRIBUTES.
func whose(o Options) *resource.Resource {
	own := resource.NewSchemaless(semconv.ServiceName("locus"), semconv.ServiceNamespace(o.Cluster),
		semconv.ServiceInstanceID(o.Instance), semconv.ServiceVersion(o.Version))
	merged, err := resource.Merge(resource.Environment(), own)
	if err != nil {
		return own
	}
	return merged
}

// Tracer returns the tracer that decides which statements are traced, or nil if none is.
func (s *Spans) Tracer() *trace.Tracer {
	if s == nil {
		return nil
	}
	return trace.New(s, s.sample)
}

// closeTime is how long waiting spans may still be sent at the end.
const closeTime = 2 * time.Second

// Close sends waiting spans, for at most closeTime, and drops the rest.
func (s *Spans) Close() error {
	if s == nil {
		return nil
	}
	defer s.cancel()
	defer time.AfterFunc(closeTime, s.cancel).Stop()
	return s.provider.Shutdown(context.Background())
}

// Counts counts the spans sent and dropped.
type Counts struct{ Sent, Dropped uint64 }

// Counts returns the counts since the start.
func (s *Spans) Counts() Counts {
	if s == nil {
		return Counts{}
	}
	return s.queue.counts()
}

// span is a span that has ended.
type span struct {
	name         string
	kind         otel.SpanKind
	began, ended time.Time
	attributes   []attribute.KeyValue
	failed       bool
}

// begin starts the span and returns the context for its children.
func (s *Spans) begin(ctx context.Context, of span) (context.Context, otel.Span) {
	return s.tracer.Start(ctx, of.name, otel.WithTimestamp(of.began), otel.WithSpanKind(of.kind), otel.WithAttributes(of.attributes...))
}

func (s *Spans) end(begun otel.Span, of span) {
	if of.failed {
		begun.SetStatus(codes.Error, "") // never a text, which may contain row data
	}
	begun.End(otel.WithTimestamp(of.ended))
}
