package session

import (
	"context"
	"runtime"
	"time"

	"locus/proxy/interrupt"
	"locus/router/plan"
	"locus/router/stmt"
)

// longText is from which length on, in bytes, a text is planned beside its session. A
// shorter one takes milliseconds.
const longText = 64 << 10

// planners are the places of texts that are planned beside their sessions, for the
// whole process: half of the cores are left to everybody else's statements. A text
// that nobody waits for any more keeps its place until it is planned, since the parser
// can't be interrupted.
var planners = make(chan struct{}, (runtime.GOMAXPROCS(0)+1)/2)

// goneLook is how often a session that waits for a plan looks whether its client does.
const goneLook = 50 * time.Millisecond

// read reads a text into l. A long one is given up if its command is cancelled.
//
// Comments that some servers run are resolved in it, so that what is planned, sent,
// prepared and traced is what the shards would run: the text is changed where it
// stands, and may become shorter: l.Text is the one to go on with.
func (s *Session) read(l *stmt.Lexed, text []byte) error { return s.readBy(l, text, s.vars.Mode) }

// readBy is read of a text of another time.
func (s *Session) readBy(l *stmt.Lexed, text []byte, mode stmt.Mode) error {
	if len(text) <= longText {
		l.Lex(text, mode)
	} else {
		l.LexUntil(text, mode, s.interrupts.Cancelled)
		if err := s.interrupts.Unwanted(); err != nil {
			return err
		}
	}
	if l.Conditional {
		l.Resolve(s.servers())
	}
	return nil
}

// servers are those of all shards and replicas, by what they greeted with.
func (s *Session) servers() (list []stmt.Server) {
	for _, version := range s.Versions() {
		if server, ok := stmt.ServerOf(version); ok {
			list = append(list, server)
		}
	}
	return list
}

// planUnder plans a text that was read. A long one is planned beside the session,
// which answers at once when its command is cancelled.
func (s *Session) planUnder(l *stmt.Lexed, under plan.Context) (plan.Plan, error) {
	if l.Length() <= longText {
		return plan.Make(l, under)
	}
	ctx, cancel := s.planningTime(l)
	defer cancel()
	look := time.NewTicker(goneLook)
	defer look.Stop()
	made, place := make(chan planned, 1), planners
	for {
		select {
		case place <- struct{}{}:
			place = nil // one is enough
			go planBeside(l.Clone(), under, made)
		case out := <-made:
			return out.plan, out.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-look.C:
			if s.client.Stream.PeerGone() {
				return nil, interrupt.ClientGone.Error(s.flavor())
			}
		}
	}
}

// planned is a plan that was made, or why there is none.
type planned struct {
	plan plan.Plan
	err  error
}

// planBeside gives back the place that was taken for it.
func planBeside(l *stmt.Lexed, under plan.Context, made chan<- planned) {
	defer func() { <-planners }()
	p, err := plan.Make(l, under)
	made <- planned{p, err}
}

// planningTime ends with the command's cancellation, or when the statement's time is over.
func (s *Session) planningTime(l *stmt.Lexed) (context.Context, context.CancelFunc) {
	limit := s.vars.TimeLimit()
	if limit == 0 || !s.flavor().TimesOutWrites() && len(l.Rows) > 0 {
		return context.WithCancel(s.interrupts.Waits())
	}
	return context.WithTimeoutCause(s.interrupts.Waits(), limit, interrupt.TimedOut.Error(s.flavor()))
}
