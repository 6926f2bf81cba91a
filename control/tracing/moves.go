package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	otel "go.opentelemetry.io/otel/trace"

	"locus/migrate"
	"locus/proxy/trace"
)

// Segment implements trace.Sink.
func (s *Spans) Segment(of trace.Segment) {
	load := span{
		name: "load segment", kind: otel.SpanKindClient, began: of.Began, ended: of.Ended, failed: of.Failed,
		attributes: []attribute.KeyValue{attribute.String("locus.counter", of.Counter), attribute.Int64("locus.size", int64(of.Size))},
	}
	_, begun := s.begin(context.Background(), load)
	s.end(begun, load)
}

// Stepped sends a step of a cut-over. All are sent, since there are few.
func (s *Spans) Stepped(of migrate.Stepped) {
	if s == nil {
		return
	}
	whole := span{
		name: "cut-over step", kind: otel.SpanKindInternal, began: of.Began, ended: of.Ended, failed: of.Failed,
		attributes: []attribute.KeyValue{
			attribute.String("locus.job", of.Job), attribute.String("locus.receiver", string(of.To)), attribute.Int("locus.genes", of.Genes),
		},
	}
	ctx, begun := s.begin(context.Background(), whole)
	for _, line := range of.Lines {
		part := span{name: line.Name, kind: otel.SpanKindInternal, began: line.Began, ended: line.Ended, failed: line.Failed}
		_, child := s.begin(ctx, part)
		s.end(child, part)
	}
	s.end(begun, whole)
}
