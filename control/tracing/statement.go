package tracing

import (
	"context"
	"net"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	otel "go.opentelemetry.io/otel/trace"

	"locus/proxy/flavor"
	"locus/proxy/trace"
)

// Statement implements trace.Sink.
func (s *Spans) Statement(of *trace.Statement) {
	ctx := context.Background()
	if p := of.Parent; !p.IsZero() {
		ctx = otel.ContextWithRemoteSpanContext(ctx, otel.NewSpanContext(otel.SpanContextConfig{
			TraceID: p.Trace, SpanID: p.Span, TraceFlags: otel.TraceFlags(p.Flags), Remote: true,
		}))
	}
	common := system(of)
	whole := span{
		name: summary(of), kind: otel.SpanKindServer, began: of.Began, ended: of.Ended,
		attributes: append(statementAttributes(of), common...), failed: of.Code != 0 || of.Cut,
	}
	ctx, begun := s.begin(ctx, whole)
	within := make([]context.Context, len(of.Parts))
	for i, p := range of.Parts {
		outer := ctx
		if p.Under >= 0 {
			outer = within[p.Under]
		}
		part := partSpan(p, common)
		inner, child := s.begin(outer, part)
		within[i] = inner
		s.end(child, part)
	}
	s.end(begun, whole)
}

// summary returns a short span name that is the same for all statements of a digest.
func summary(of *trace.Statement) string {
	const most = 255 // OpenTelemetry's own limit
	text := strings.Join(append([]string{of.Operation}, of.Tables...), " ")
	switch {
	case text == "":
		return "statement"
	case len(text) > most:
		return strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// system returns the attributes common to statements and their parts.
func system(of *trace.Statement) []attribute.KeyValue {
	list := []attribute.KeyValue{semconv.DBSystemNameMySQL}
	if of.Flavor == flavor.MariaDB {
		list[0] = semconv.DBSystemNameMariaDB
	}
	if of.Operation != "" {
		list = append(list, semconv.DBOperationName(of.Operation))
	}
	if of.Database != "" {
		list = append(list, semconv.DBNamespace(of.Database))
	}
	return list
}

func statementAttributes(of *trace.Statement) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.DBQuerySummary(summary(of)), semconv.DBQueryText(of.Text),
		attribute.String("locus.digest", of.Hash), attribute.String("locus.user", of.User),
		attribute.String("locus.spread", spread(of)), attribute.StringSlice("locus.shards", of.Shards),
		attribute.Float64("locus.waited_seconds", of.Waited.Seconds()), attribute.Float64("locus.held_seconds", of.Held.Seconds()),
	}
	if len(of.Tables) == 1 {
		list = append(list, semconv.DBCollectionName(of.Tables[0]))
	}
	if of.Route != "" { // it was planned
		list = append(list, attribute.String("locus.route", of.Route), rows(of.Operation, of.Rows))
	}
	if host, port, err := net.SplitHostPort(of.Client); err == nil {
		list = append(list, semconv.ClientAddress(host), number("client.port", port))
	}
	if of.LeftOut > 0 {
		list = append(list, attribute.Int("locus.parts_left_out", of.LeftOut))
	}
	return append(list, failure(of.Code, of.Cut)...)
}

func rows(operation string, n uint64) attribute.KeyValue {
	if operation == "SELECT" {
		return semconv.DBResponseReturnedRows(int(n))
	}
	return attribute.Int64("locus.rows", int64(n))
}

// spread returns on how many shards a statement ran, in words.
func spread(of *trace.Statement) string {
	for _, p := range of.Parts {
		if p.Kind == trace.Gather {
			return "gather"
		}
	}
	switch len(of.Shards) {
	case 0:
		return "none"
	case 1:
		return "single"
	}
	return "scatter"
}

func failure(code uint16, cut bool) []attribute.KeyValue {
	switch {
	case code != 0:
		text := strconv.Itoa(int(code))
		return []attribute.KeyValue{semconv.DBResponseStatusCode(text), semconv.ErrorTypeKey.String(text)}
	case cut:
		return []attribute.KeyValue{semconv.ErrorTypeKey.String("connection_ended")}
	}
	return nil
}

func number(key, digits string) attribute.KeyValue {
	n, _ := strconv.Atoi(digits)
	return attribute.Int(key, n)
}

var partNames = [...]string{
	trace.Shard: "shard", trace.Hold: "hold", trace.Issue: "issue IDs", trace.Gather: "gather", trace.Table: "gather table",
	trace.Prepare: "prepare", trace.Decide: "decide", trace.Commit: "commit",
}

func partSpan(p trace.Part, common []attribute.KeyValue) span {
	of := span{name: partNames[p.Kind], kind: otel.SpanKindInternal, began: p.Began, ended: p.Ended, failed: p.Code != 0}
	if p.Name != "" {
		of.name += " " + p.Name
	}
	if p.Kind != trace.Shard {
		return of
	}
	of.name, of.kind = "shard "+p.Shard, otel.SpanKindClient
	of.attributes = append(append(of.attributes, common...), attribute.String("locus.shard", p.Shard))
	if host, port, err := net.SplitHostPort(p.Addr); err == nil {
		of.attributes = append(of.attributes, semconv.ServerAddress(host), number("server.port", port))
	}
	of.attributes = append(of.attributes, failure(p.Code, false)...)
	return of
}
