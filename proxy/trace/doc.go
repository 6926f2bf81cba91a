// Package trace notes what became of a statement, for a trace of OpenTelemetry's: the
// statement itself, and each thing that it was made of or waited for. It owns the
// decision which statements are traced, and the bound on what is noted of one. It never
// notes a literal, a parameter or an error's text, and never sends anything: a [Sink]
// does.
package trace
