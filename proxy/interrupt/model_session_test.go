package interrupt

import (
	"locus/idgen/gene"
	"locus/proxy/fence"
	"locus/router"
)

// modelSession is a client with a transaction of one statement, whose commit is a command of its own or a part of it.
type modelSession struct {
	*order
	handle *Handle
	client modelClient
	conn   *modelConn
	open   bool
	aborts bool // the proxy ends

	gate   *fence.Gate
	maps   []*router.Map
	force  *router.Map // the map in force, one of maps
	change chan struct{}
	began  int64         // the version by which the transaction began
	fenced bool          // the transaction has a gene of the fence
	told   bool          // the client was told by the current command that its transaction was preempted
	untold bool          // the client must be told so by its next command
	acks   chan struct{} // closed once the fence is acknowledged
	acked  bool
	fences bool // whether reading the map is a step; not in tests of every order of two actors, which would be too many
	enters bool // between the first and the second reading of the map
	given  map[Reason]bool
	ended  bool
}

// run serves the commands. Each command is a list of its parts.
func (s *modelSession) run(commands ...[]string) {
	defer func() { s.ended = true }()
	defer s.handle.Leave()
	defer s.rollback()
	for at := 0; at < len(commands); at++ {
		if s.handle.MustEnd() {
			return
		}
		woken, err := s.handle.Fill()
		if err != nil {
			return
		}
		if woken {
			s.giveWay()
			at--
			continue
		}
		last := s.handle.Begin()
		s.command(commands[at])
		s.step("the command ends")
		s.handle.End(s.open)
		s.giveWay()
		if s.told && s.open {
			s.fault("the transaction is open, and its client was told that it isn't")
		}
		s.gate.Rest(s.open)
		if last && !s.open {
			return
		}
	}
}

// command runs a command, and checks the errors that its client receives.
func (s *modelSession) command(parts []string) {
	told := map[string]bool{}
	s.told = false
	if s.gate.TakeUnreported() != s.untold {
		s.fault("its client is to be told: %t", s.untold)
	}
	s.untold = false
	for _, part := range parts {
		var err error
		switch part {
		case "statement":
			err = s.statement(isFenced)
		case "other":
			err = s.statement(another)
		case "commit":
			s.commit()
		}
		if err != nil {
			told[err.Error()] = true
			if s.handle.Reason() == Preempted {
				s.told = true
				s.gate.NoteReported()
			}
			break
		}
	}
	if len(told) > 1 {
		s.fault("told %v", told)
	}
}

func (s *modelSession) statement(g gene.Gene) error {
	s.step("the statement begins")
	m, err := s.admit(g)
	if err != nil {
		return err
	}
	if err := s.handle.Unwanted(); err != nil {
		return err
	}
	if !s.conn.owned {
		s.conn.owned = true
		if err := s.handle.Await(s.conn, s.conn); err != nil {
			s.conn.owned = false
			return err
		}
	}
	s.step("the statement is sent")
	s.sends(m, g)
	switch s.conn.exec("statement") {
	case hit:
		reason := s.handle.Reason()
		if !s.given[reason] {
			s.fault("hit by nobody: reason %d", reason)
			return nil
		}
		s.open = true // a statement that is killed leaves its transaction
		return reason.Error(s.handle.flavor())
	case lost, unsent:
		s.discard()
	case answered:
		s.open = true
	}
	return nil
}

func (s *modelSession) commit() {
	if !s.open {
		return
	}
	s.step("the commit begins")
	s.handle.Shield()
	if how := s.conn.exec("commit"); (how == hit || how == lost) && !s.aborts {
		s.fault("the commit is %s", how)
	}
	s.step("the commit has ended")
	s.handle.Unshield()
	s.giveBack()
}

// rollback ends a transaction. It is never cut off. If it fails, the connection is discarded.
func (s *modelSession) rollback() {
	if !s.open {
		return
	}
	s.handle.Shield()
	s.conn.exec("rollback")
	s.handle.Unshield()
	s.giveBack()
}

func (s *modelSession) giveBack() {
	s.open = false
	killed := s.handle.Remove(s.conn)
	s.returned(killed)
}

func (s *modelSession) discard() {
	s.open = false
	s.handle.Remove(s.conn)
	s.returned(true)
}

// returned returns the connection to the pool. If it is discarded, the pool gets a new one.
func (s *modelSession) returned(discarded bool) {
	s.conn.state.Lock()
	defer s.conn.state.Unlock()
	s.conn.owned = false
	if !discarded && (s.conn.pending || s.conn.kills > 0) {
		s.fault("a kill may hit the next borrower")
	}
	if discarded {
		s.conn.pending, s.conn.down = false, false
	}
}
