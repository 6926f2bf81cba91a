// Package tracing sends spans of statements, segment loads and steps of moves to an OpenTelemetry collector. It owns
// the bounded queue before the collector and counts what is lost. It never decides what is traced, and an unavailable
// collector blocks nobody.
package tracing
