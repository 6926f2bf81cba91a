// Package trace records a statement for an OpenTelemetry trace: the statement itself and each of its steps and waits.
// It owns the sampling decision and the bound on recorded steps. It never records a literal, a parameter or an error's
// text. It never exports anything; a [Sink] does.
package trace
