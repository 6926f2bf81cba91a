// Package tracing sends spans to a collector of OpenTelemetry's: of statements, of loads
// of segments, of steps of moves. It owns the queue before the collector, which is
// bounded, and says what is lost. It never decides what is traced, and a collector that
// is away keeps nobody waiting.
package tracing
