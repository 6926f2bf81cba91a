package session

import (
	"context"
	"log/slog"
	"sync/atomic"

	"locus/proxy/observe"
	"locus/router/plan"
)

// Refusals count refused statements by their codes.
type Refusals struct{ counts [mostCodes]atomic.Uint64 }

// The codes of refusals are from firstCode on, and fewer than so many.
const (
	firstCode = 1000
	mostCodes = 400
)

func (r *Refusals) add(c plan.Code) {
	if at := int(c) - firstCode; at >= 0 && at < mostCodes {
		r.counts[at].Add(1)
	}
}

// All gives each code that there was, in their order.
func (r *Refusals) All(yield func(plan.Code, uint64) bool) {
	for at := range r.counts {
		if n := r.counts[at].Load(); n > 0 && !yield(plan.Code(firstCode+at), n) {
			return
		}
	}
}

// tellRefusal logs a refusal for who looks for them. The statement is told without its literals.
func (s *Session) tellRefusal(e *plan.Refusal) {
	if !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("statement refused", "session", s.id, "code", e.Code.String(), "statement", s.lexed.Digest(observe.DigestText).Text)
}
