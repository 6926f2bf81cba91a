package interrupt

import (
	"errors"

	"locus/idgen/gene"
	"locus/proxy/fence"
	"locus/router"
)

// The fence of the model holds some of the genes that move.
var (
	fenced            = gene.NewSet(gene.Range{First: 0x4000, Last: 0x4fff})
	isFenced, another = gene.Gene(0x4001), gene.Gene(0x5000)
)

// maps3 are the maps of a step: the move is announced, fenced, and handed over.
var maps3 = func() []*router.Map {
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x7fff, Shard: "s0"}, {Bound: 0xffff, Shard: "s1"}})
	move := router.Move{Job: "1", Genes: gene.NewSet(gene.Range{First: 0x4000, Last: 0x7fff}), From: "s0", To: "s1"}
	held := move
	held.Held = fenced
	announced, err1 := m.Step([]router.Move{move})
	fence, err2 := announced.Step([]router.Move{held})
	over, err3 := fence.Step([]router.Move{move}, router.Change{Genes: fenced, To: "s1"})
	if err := errors.Join(err, err1, err2, err3); err != nil {
		panic(err)
	}
	return []*router.Map{announced, fence, over}
}()

func (s *modelSession) giveWay() {
	if !s.gate.Preempted(s.open) {
		return
	}
	if !s.fenced && !s.told {
		s.fault("preempted by a fence of other genes")
	}
	s.rollback()
	s.gate.RolledBack()
	s.handle.RolledBack()
	s.untold = !s.told
}

// enter returns the map in force, and registers the session with the gate under it.
func (s *modelSession) enter() *router.Map {
	for {
		m := s.now()
		if s.fences {
			s.step("the session has the map")
		}
		s.enters = s.fences
		still := s.gate.Enter(m, s.open)
		s.enters = false
		if still {
			return m
		}
	}
}

// inForce returns the map in force to the gate. That is a step of its own after the gate has registered the
// session.
func (s *modelSession) inForce() *router.Map {
	if s.enters {
		s.step("the session looks at the map again")
	}
	return s.now()
}

func (s *modelSession) now() *router.Map {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.force
}

func (s *modelSession) changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change
}

func (s *modelSession) publish(m *router.Map) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.force = m
	close(s.change)
	s.change = make(chan struct{})
}

// admit asks the gate to admit a statement, and waits while the fence holds it.
func (s *modelSession) admit(g gene.Gene) (*router.Map, error) {
	m := s.enter()
	_, err := s.gate.Admit(m, []gene.Gene{g}, false, s.open)
	if err == nil {
		return m, nil
	}
	hold, _ := s.gate.Hold()
	defer hold.End()
	for err != nil {
		if err := hold.Wait(s.handle.Waits(), m, err.(*fence.HeldError), s.open); err != nil { //nolint:errorlint // it is never wrapped
			if errors.Is(err, fence.ErrTooLong) {
				s.fault("held for too long")
				s.rollback()
			}
			return nil, err
		}
		m = s.enter()
		_, err = s.gate.Admit(m, []gene.Gene{g}, false, s.open)
	}
	return m, nil
}

// sends checks that a statement may be sent now by the map that it was admitted by. The fence's own map allows
// it only within a transaction that the fence waits for.
func (s *modelSession) sends(m *router.Map, g gene.Gene) {
	fence := s.maps[1].Version()
	if !s.open {
		s.began, s.fenced = m.Version(), false
	}
	awaited := s.fenced && s.began < fence
	if fenced.Contains(g) && (m.Version() <= fence && s.acked || m.Version() == fence && !awaited) {
		s.fault("sent by version %d of the map", m.Version())
	}
	s.fenced = s.fenced || fenced.Contains(g)
}

// acknowledge checks whether the session obeys the fence, and then acknowledges it at once.
func (s *modelSession) acknowledge() {
	published := s.now() == s.maps[1]
	if !published || s.acked || !s.ended && !s.gate.Obeys(s.maps[1].Version(), fenced) {
		return
	}
	s.acked = true
	close(s.acks)
	if (s.open || s.conn.busy()) && s.fenced && s.began < s.maps[1].Version() {
		s.fault("acknowledged although a transaction of version %d is open", s.began)
	}
}
