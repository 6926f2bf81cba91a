package failover

import (
	"maps"
	"slices"
	"time"

	"locus/control/switchover"
	"locus/router"
	"locus/router/cluster"
)

// State contains the results of earlier polls of a shard. It is a value: [Observe] returns the next state and does not change the
// previous one.
type State struct {
	Record Record

	same int // polls in sequence that found a problem

	// The following fields are used only for shards whose servers locus promotes.

	looks   int
	shrunk  int                // polls in sequence that found a read-only primary without transactions that others have
	absence absence            // of the primary
	reached map[string]votes   // the proxies' answers when they were last asked
	before  []switchover.Sight // the last poll at which the primary took writes
	strange map[string]int     // by server: the number of consecutive polls that found errant transactions
	next    switchover.View    // the server that this process has promoted
	has     string             // the primary's GTID set at the last poll
	waiting int                // polls in sequence that found commits waiting for replicas
	since   time.Time          // the time of the first of them
	alone   int                // polls in sequence of a primary that runs without replicas
}

// clone returns a copy whose maps and slices can be changed.
func (s State) clone() State {
	s.Record, s.strange, s.absence.begins = s.Record.clone(), maps.Clone(s.strange), slices.Clone(s.absence.begins)
	return s
}

// Poll contains the results of one poll of a shard.
type Poll struct {
	At       time.Time // time by the clock of the polling process
	Shard    router.ShardName
	Document cluster.Primary
	Servers  []string      // as declared
	After    time.Duration // how long most proxies must miss the primary before another server is promoted
	// Seen are all servers. The declared primary is the first, and was polled before the others.
	Seen []switchover.Sight
	// Votes are how the proxies see each server, or nil if they were not asked; see [State.Asks]. NoVotes is the reason why they
	// could not be asked.
	Votes   map[string]votes
	NoVotes error
}

// Action is the kind of a decision.
type Action int

const (
	// Nothing: there is nothing to do, or an operator has to do it.
	Nothing Action = iota
	// Promote makes Decision.To the primary, or undoes a promotion that was begun if that is the declared primary.
	Promote
	// WaitAgain makes a primary that runs without replicas wait for them again.
	WaitAgain
	// Tidy sets the servers up as the document declares.
	Tidy
)

func (a Action) String() string { return [...]string{"nothing", "promote", "wait again", "tidy"}[a] }

// Decision is the result of a poll: an action, or a problem that an operator must solve.
type Decision struct {
	Do Action
	To string // for Promote
	// Known is the knowledge of the decision. A promotion decides again from it, under the shard's lease.
	Known Known
	// Inspects reports whether replicas are inspected for branches that a crash has left.
	Inspects bool
	// Err is the problem to report unless the action fails; it is a *[Trouble] for an operator.
	Err error
}

// Asks reports whether the proxies must be asked about the servers for the next poll, which has seen this primary. While the
// primary is healthy, every few polls are enough.
func (s State) Asks(now time.Time, document cluster.Primary, primary switchover.Sight) bool {
	absent := s.absence
	if s.Record.Primary != document.Server {
		absent = absence{}
	}
	return primary.Err != nil || absent.lasts(now) > 0 || s.looks%voteEvery == 0
}

// Observe makes the decision for a poll of a shard with failover: promote, and returns the state after the poll. It has no effects,
// needs no server and no clock, and returns the same for the same arguments.
func Observe(s State, p Poll) (State, Decision) {
	s = s.clone()
	s.learn(p)
	if p.NoVotes != nil {
		return s, Decision{Err: p.NoVotes}
	}
	if p.Votes != nil {
		s.reached = p.Votes
		s.absence.note(p.At, p.Votes[p.Document.Server])
	}
	s.looks++
	d := s.decide(p, s.known(p))
	return s, d
}

// learn records the state of the primary in the poll.
func (s *State) learn(p Poll) {
	s.meet(p)
	primary, r := p.Seen[0], &s.Record
	s.waits(p.At, primary)
	if primary.Err != nil || primary.ReadOnly {
		return
	}
	s.has, r.Identity, r.Copies = primary.Has, primary.Identity, 0
	if primary.SemiSync.Weak() == "" {
		r.Copies = primary.SemiSync.Copies
	}
	r.Had = acknowledged(primary, p.Seen[1:], *r)
	s.errant(primary)
	s.before = p.Seen
}

// known returns the knowledge by which the next primary is chosen.
func (s *State) known(p Poll) Known {
	r := s.Record.clone()
	return Known{
		Shard: p.Shard, Had: r.Had, Identity: r.Identity, Copies: r.Copies, Followers: r.Followers, Errant: r.Errant, Reached: s.reached,
		Away: Away{s.reached[p.Document.Server], s.absence.lasts(p.At), p.After, s.absence.comesAndGoes(p.At)},
	}
}

// decide makes the decision from the state and the knowledge.
func (s *State) decide(p Poll, k Known) Decision {
	to, err := Choose(p.Document, p.Seen, k)
	other := to != p.Document.Server
	shrunk := err == nil && other && !k.Away.enough()
	if s.shrunk++; !shrunk {
		s.shrunk = 0
	}
	switch {
	case err != nil:
		return Decision{Known: k, Err: err}
	case shrunk && s.shrunk < lasting: // one poll is no proof: a client may still write to the primary, and the other servers were polled a moment later
		return Decision{Known: k}
	case other || p.Document.Next != "":
		return Decision{Do: Promote, To: to, Known: k}
	case k.Away.Votes.most():
		return Decision{Known: k} // After has not passed yet
	}
	s.survey(p, k)
	d := Decision{Known: k, Inspects: true}
	if s.accompanied(p.Document, p.Seen) {
		d.Do = WaitAgain
		return d
	}
	if d.Err = k.patience(p.Document, p.Seen); untidy(p.Document, p.Seen, k.Errant) {
		d.Do = Tidy
	}
	return d
}

// meet resets the state that belongs to another primary.
func (s *State) meet(p Poll) {
	r := &s.Record
	if r.Primary != p.Document.Server {
		s.absence, s.before, s.strange, s.has = absence{}, nil, nil, ""
		r.Had, r.Identity, r.Copies, r.Errant = "", "", 0, nil
		s.shrunk, r.Waits, s.waiting, s.alone = 0, time.Time{}, 0, 0
		if s.next.Addr == p.Document.Server { // this process promoted it and knows its transactions
			r.Had, r.Identity = s.next.All(), s.next.Identity
		}
		// The former primary does not follow: it is down.
		r.Followers = slices.DeleteFunc(slices.Clone(p.Servers), func(a string) bool {
			return a == p.Document.Server || p.Document.Former != "" && a == p.Document.Former
		})
	}
	r.Epoch, r.Primary = p.Document.Epoch, p.Document.Server
}

// errant records the errant transactions: those that other servers had at the previous poll and the primary still lacks. They count
// only after several polls, because a transaction may be on its way.
func (s *State) errant(primary switchover.Sight) {
	for _, one := range s.before {
		if one.Err != nil || one.Addr == primary.Addr {
			continue
		}
		missing, err := switchover.Missing(one.MariaDB, one.Has, primary.Has)
		if err != nil {
			continue
		}
		if s.strange == nil {
			s.strange = map[string]int{}
		}
		if s.strange[one.Addr]++; missing == "" {
			s.strange[one.Addr] = 0
			delete(s.Record.Errant, one.Addr)
		} else if s.strange[one.Addr] >= lasting || s.Record.Errant[one.Addr] != "" {
			if s.Record.Errant == nil {
				s.Record.Errant = map[string]string{}
			}
			s.Record.Errant[one.Addr] = missing
		}
	}
}

// WithFollowers returns the state before the servers of a poll are set up as the document declares: each may acknowledge
// transactions from then on.
func (s State) WithFollowers(p Poll) State {
	s = s.clone()
	for _, one := range p.Seen[1:] {
		if one.Err == nil && !slices.Contains(s.Record.Followers, one.Addr) {
			s.Record.Followers = append(s.Record.Followers, one.Addr)
		}
	}
	return s
}

// Promoted returns the state after this process has promoted a server, whose transactions it knows.
func (s State) Promoted(server switchover.View) State {
	s.next = server
	return s
}

// Reported returns the state after a poll with this result: a problem, or nil. A problem counts after several polls have found it,
// because servers change roles one after the other. settled reports whether the record describes the result.
func (s State) Reported(err error, what, remedy string) (next State, settled bool) {
	if s.same++; err == nil {
		s.same = 0
	}
	if err != nil && s.same < lasting {
		return s, false
	}
	s.Record = s.Record.clone()
	s.Record.Trouble, s.Record.Remedy = what, remedy
	return s, true
}
