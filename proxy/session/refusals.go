package session

import (
	"context"
	"log/slog"
	"sync/atomic"

	"locus/proxy/observe"
	"locus/router/plan"
)

// Refusals counts refused statements by their codes.
type Refusals struct{ counts [mostCodes]atomic.Uint64 }

// The codes of refusals begin at firstCode. mostCodes is an upper bound for their number.
const (
	firstCode = 1000
	mostCodes = 400
)

// add counts a refusal. It ignores a code that is out of range.
func (r *Refusals) add(c plan.Code) {
	if at := int(c) - firstCode; at >= 0 && at < mostCodes {
		r.counts[at].Add(1)
	}
}

// All yields each code that has occurred and its count, in the order of the codes.
func (r *Refusals) All(yield func(plan.Code, uint64) bool) {
	for at := range r.counts {
		if n := r.counts[at].Load(); n > 0 && !yield(plan.Code(firstCode+at), n) {
			return
		}
	}
}

// logRefusal logs a refusal at the debug level. It logs the statement without its literals.
func (s *Session) logRefusal(e *plan.Refusal) {
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("statement refused", "session", s.id, "code", e.Code.String(), "statement", s.lexed.Digest(observe.DigestText).Text)
}
