package session

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"locus/proxy/interrupt"
	"locus/router/plan"
	"locus/router/stmt"
)

// longText is the length in bytes above which a text is planned in a goroutine of its own. A shorter one takes milliseconds.
const longText = 64 << 10

// planners contains a place for each long text that is being planned in the process. The number of places is half of the cores,
// so that the other half is left to other statements. A text whose session no longer waits keeps its place until it is planned,
// because the parser can't be interrupted.
var planners = make(chan struct{}, (runtime.GOMAXPROCS(0)+1)/2)

// goneInterval is the interval at which a session that waits for a plan checks whether its client has disconnected.
const goneInterval = 50 * time.Millisecond

// read parses a text into l. It stops reading a long text if the command is cancelled.
//
// read resolves comments that only some servers run. So the text that is planned, sent, prepared and traced is the text that the
// shards would run. The text is changed in place and may become shorter. The caller continues with l.Text.
func (s *Session) read(l *stmt.Lexed, text []byte) error { return s.readBy(l, text, s.vars.Mode) }

// readBy is read under the given sql_mode.
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

// servers returns the servers of all shards and replicas, by the versions in their greetings.
func (s *Session) servers() (list []stmt.Server) {
	for _, version := range s.Versions() {
		if server, ok := stmt.ServerOf(version); ok {
			list = append(list, server)
		}
	}
	return list
}

// planUnder plans a text that was read. A long text is planned in another goroutine, so that planUnder returns at once when the
// command is cancelled.
func (s *Session) planUnder(l *stmt.Lexed, under plan.Context) (plan.Plan, error) {
	if l.Length() <= longText {
		return makePlan(l, under)
	}
	ctx, cancel := s.planningTime(l)
	defer cancel()
	ticker := time.NewTicker(goneInterval)
	defer ticker.Stop()
	made, place := make(chan planned, 1), planners
	for {
		select {
		case place <- struct{}{}:
			place = nil // one place is enough
			go planInBackground(l.Clone(), under, made)
		case out := <-made:
			return out.plan, out.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
			if s.client.Stream.PeerGone() {
				return nil, interrupt.ClientGone.Error(s.flavor())
			}
		}
	}
}

// planQuery plans a query of the session's own. Rights do not limit it, because the client's statement was checked.
func (s *Session) planQuery(query, schema string) (plan.Plan, error) {
	l := new(stmt.Lexed)
	l.Lex([]byte(query), s.vars.Mode)
	return s.planUnder(l, plan.Context{Catalog: s.Snapshot().Catalog, Schema: schema})
}

// makePlan is the only place that plans statements. It replans nothing: the plan contains the plans of all parts of the statement.
// Planning reads the text and the snapshot and changes nothing, so that after a panic only this statement fails, with a
// *planningFault.
func makePlan(l *stmt.Lexed, under plan.Context) (p plan.Plan, err error) {
	defer func() {
		if why := recover(); why != nil {
			p, err = nil, &planningFault{why, debug.Stack()}
		}
	}()
	return plan.Make(l, under)
}

// planningFault is a panic of the planner.
type planningFault struct {
	why   any
	stack []byte
}

func (e *planningFault) Error() string {
	return fmt.Sprintf("planning this statement has failed (%v), and it was not run: report it with the stack in the proxy's log", e.why)
}

// planned is a plan, or the reason why there is none.
type planned struct {
	plan plan.Plan
	err  error
}

// planInBackground plans a text, and then releases the place that its caller acquired.
func planInBackground(l *stmt.Lexed, under plan.Context, made chan<- planned) {
	defer func() { <-planners }()
	p, err := makePlan(l, under)
	made <- planned{p, err}
}

// planningTime returns a context that ends when the command is cancelled, or when the statement's time limit is reached.
func (s *Session) planningTime(l *stmt.Lexed) (context.Context, context.CancelFunc) {
	limit := s.vars.TimeLimit()
	if limit == 0 || !s.flavor().TimesOutWrites() && len(l.Rows) > 0 {
		return context.WithCancel(s.interrupts.Waits())
	}
	return context.WithTimeoutCause(s.interrupts.Waits(), limit, interrupt.TimedOut.Error(s.flavor()))
}
