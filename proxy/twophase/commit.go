package twophase

import "locus/proxy/backend"

// Verdict is the outcome of a transaction.
type Verdict uint8

const (
	// Unknown: the outcome could not be determined in time. Recovery determines it and acts on it.
	Unknown Verdict = iota
	Committed
	RolledBack
)

func (v Verdict) String() string {
	return [...]string{"unknown", "committed", "rolled_back"}[v]
}

// Steps are the steps of a commit on the connections that hold the transaction's parts. They are functions, so that
// their order can be tested separately.
type Steps struct {
	// Prepare ends and prepares every branch. After an error at least one branch is not prepared, or not known to be.
	Prepare func() error
	// Decide inserts the decision in the home transaction. After an error the home transaction can no longer commit it.
	Decide func() error
	// CommitHome commits the home transaction.
	CommitHome func() error
	// Settle determines the outcome of the home transaction after an ambiguous error. No connection of the transaction
	// may commit it afterwards, unless it has begun to.
	Settle func() Verdict
	// Finish commits the branches or rolls everything back. If the verdict is Unknown, it releases them. It reports
	// whether every branch is known to have ended.
	Finish func(Verdict) bool
	// Forget marks the decision for removal.
	Forget func()
	// Leave hands unfinished work of Finish over to recovery.
	Leave func()
	// Stop is called at named points, so that tests can end the process there.
	Stop func(point string)
}

// Run commits the transaction and returns its outcome. The error is why it was not committed, or not known to be.
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
