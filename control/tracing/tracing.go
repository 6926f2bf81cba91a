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

// Options say where spans go, and whose they are.
type Options struct {
	Endpoint    string // the URL of an OTLP/HTTP collector
	Sample      float64
	HeadersFile string
	CA          string // a PEM file; empty: the system's authorities
	Timeout     time.Duration

	Cluster, Instance, Version string
	Log                        *slog.Logger
}

// Spans sends spans. A nil one sends none.
type Spans struct {
	provider *sdk.TracerProvider
	tracer   otel.Tracer
	queue    *queue
	sample   float64
	cancel   context.CancelFunc // of what is being sent
}

// Open connects to nothing yet.
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

// whose is the process, with what OTEL_RESOURCE_ATTRIBUTES adds.
func whose(o Options) *resource.Resource {
	own := resource.NewSchemaless(semconv.ServiceName("locus"), semconv.ServiceNamespace(o.Cluster),
		semconv.ServiceInstanceID(o.Instance), semconv.ServiceVersion(o.Version))
	merged, err := resource.Merge(resource.Environment(), own)
	if err != nil {
		return own
	}
	return merged
}

// Tracer decides which statements are traced; nil: none is.
func (s *Spans) Tracer() *trace.Tracer {
	if s == nil {
		return nil
	}
	return trace.New(s, s.sample)
}

// closeTime is how long what waits may still be sent.
const closeTime = 2 * time.Second

// Close sends what waits, for as long as that may take, and drops the rest.
func (s *Spans) Close() error {
	if s == nil {
		return nil
	}
	defer s.cancel()
	defer time.AfterFunc(closeTime, s.cancel).Stop()
	return s.provider.Shutdown(context.Background())
}

// Counts is how many spans were sent, and how many were not.
type Counts struct{ Sent, Dropped uint64 }

// Counts are since the start.
func (s *Spans) Counts() Counts {
	if s == nil {
		return Counts{}
	}
	return s.queue.counts()
}

// span is one that is over.
type span struct {
	name         string
	kind         otel.SpanKind
	began, ended time.Time
	attributes   []attribute.KeyValue
	failed       bool
}

// begin gives the span, and what others are within it by.
func (s *Spans) begin(ctx context.Context, of span) (context.Context, otel.Span) {
	return s.tracer.Start(ctx, of.name, otel.WithTimestamp(of.began), otel.WithSpanKind(of.kind), otel.WithAttributes(of.attributes...))
}

func (s *Spans) end(begun otel.Span, of span) {
	if of.failed {
		begun.SetStatus(codes.Error, "") // never a text: it may name rows
	}
	begun.End(otel.WithTimestamp(of.ended))
}
