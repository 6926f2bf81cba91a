package twophase

import "locus/proxy/backend"

// Verdict is what became of a transaction.
type Verdict uint8

const (
	// Unknown: nobody could say in time. Recovery finds out and acts by it.
	Unknown Verdict = iota
	Committed
	RolledBack
)

func (v Verdict) String() string {
	return [...]string{"unknown", "committed", "rolled_back"}[v]
}

// Steps are what the commit of one transaction does on the connections that hold
// its parts, as functions, so that their order can be tested by itself.
type Steps struct {
	// Prepare ends and prepares every branch. An error: at least one of them is
	// not prepared, or isn't known to be.
	Prepare func() error
	// Decide inserts the decision in the home transaction. An error: the home
	// transaction can't commit it any more.
	Decide func() error
	// CommitHome commits the home transaction.
	CommitHome func() error
	// Settle finds out what became of the home transaction, after an error that
	// doesn't tell. No connection of the transaction may commit it any more
	// unless it has begun to.
	Settle func() Verdict
	// Finish commits the branches, or rolls everything back; of what is Unknown
	// it lets go. It reports whether every branch is known to have ended.
	Finish func(Verdict) bool
	// Forget lets the decision be removed.
	Forget func()
	// Leave has recovery finish what Finish could not.
	Leave func()
	// Stop is called at named points, for tests that end the process there.
	Stop func(point string)
}

// Run commits, and says what became of the transaction. The error is what kept
// it from being committed, or from being known to be.
func (s Steps) Run() (Verdict, error) {
	s.Stop("before-prepare")
	if err := s.Prepare(); err != nil {
		return s.end(RolledBack, err)
	}
	s.Stop("before-decision")
	if err := s.Decide(); err != nil {
		return s.end(RolledBack, err)
	}
	s.Stop("decided")
	err := s.CommitHome()
	switch {
	case err == nil:
	case backend.NotSent(err):
		return s.end(RolledBack, err)
	default:
		if v := s.Settle(); v != Committed {
			return s.end(v, err)
		}
	}
	s.Stop("after-decision")
	return s.end(Committed, nil)
}

func (s Steps) end(v Verdict, err error) (Verdict, error) {
	switch ended := s.Finish(v); {
	case !ended:
		s.Leave()
	case v == Committed:
		s.Stop("before-forget")
		s.Forget()
	}
	return v, err
}
