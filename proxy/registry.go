package proxy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/proxy/interrupt"
	"locus/proxy/session"
	"locus/proxy/sysvars"
)

// registry contains the sessions.
type registry struct {
	mu       sync.Mutex
	sessions map[uint32]*session.Session
	users    map[uint32]string // user by connection ID
	draining bool
	running  sync.WaitGroup
	counts   *session.Counts
}

// admit counts a login of a user, or a change to that user on the same connection. It returns an error if the user has most
// connections already; 0 is no limit.
func (r *registry) admit(id uint32, user string, most int) *mysql.MyError {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := 0
	if most > 0 {
		for other, name := range r.users {
			if name == user && other != id {
				have++
			}
		}
		if have >= most {
			return &mysql.MyError{Code: mysql.ER_USER_LIMIT_REACHED, State: "42000", Message: fmt.Sprintf(
				"User '%s' has exceeded the 'max_user_connections' resource (current value: %d)", user, most)}
		}
	}
	r.users[id] = user
	return nil
}

// add registers a session. If the proxy is draining, it returns false and doesn't register the session.
func (r *registry) add(id uint32, s *session.Session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return false
	}
	r.sessions[id] = s
	return true
}

func (r *registry) remove(id uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, id)
	delete(r.users, id)
}

// Kill implements [session.Sessions].
func (r *registry) Kill(ctx context.Context, k session.KillRequest) error {
	r.mu.Lock()
	s := r.sessions[uint32(k.ID)]
	r.mu.Unlock()
	switch {
	case s == nil || k.ID>>32 != 0:
		return session.ErrNoSession
	case s.User() != k.By && !k.Any:
		return session.ErrOtherUsers
	case !k.Query:
		r.counts.Cancelled(interrupt.Killed)
		return s.Interrupts().Kill(ctx)
	}
	done, err := s.Interrupts().Cancel(ctx, interrupt.Killed, 0)
	if done {
		r.counts.Cancelled(interrupt.Killed)
	}
	return err
}

func (r *registry) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// processes returns a description of every session.
func (r *registry) processes() []sysvars.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	list := make([]sysvars.Process, 0, len(r.sessions))
	for _, s := range r.sessions {
		list = append(list, s.Process(now))
	}
	return list
}

// idleGrace is how long a client must have sent nothing before a drain closes its connection without sending anything. It is short
// enough for a drain, and longer than a statement takes to arrive.
const idleGrace = time.Second

// drain asks every session to end, waits for them until ctx ends, and ends the remaining ones. It returns their number.
func (r *registry) drain(ctx context.Context, timeout time.Duration) (left int) {
	r.each(func(s *session.Session) { s.Interrupts().Drain() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.running.Wait()
	}()
	quiet := time.NewTicker(min(idleGrace, timeout/4))
	defer quiet.Stop()
	wanted := map[*session.Session]uint64{}
	for {
		r.dismissIdle(wanted)
		select {
		case <-ended:
			return 0
		case <-quiet.C:
			continue
		case <-ctx.Done():
		}
		left = r.len()
		r.cutOff(context.WithoutCancel(ctx))
		r.each(func(s *session.Session) { s.Interrupts().Abort() })
		<-ended
		return left
	}
}

// dismissIdle ends the idle sessions whose clients have sent nothing since the last call. wanted contains the numbers of commands
// that clients had sent until then, and is updated.
func (r *registry) dismissIdle(wanted map[*session.Session]uint64) {
	r.each(func(s *session.Session) {
		now := s.Interrupts().Wanted()
		if before, seen := wanted[s]; seen && before == now {
			s.Interrupts().Dismiss()
		}
		wanted[s] = now
	})
}

// cutOff makes the shards end the statements that are running. A statement whose connection is only closed continues on its shard,
// and takes effect.
func (r *registry) cutOff(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	places := make(chan struct{}, mostCancels)
	var tasks sync.WaitGroup
	for _, s := range r.all() {
		places <- struct{}{}
		tasks.Go(func() {
			defer func() { <-places }()
			if done, _ := s.Interrupts().Cancel(ctx, interrupt.ShuttingDown, 0); done {
				r.counts.Cancelled(interrupt.ShuttingDown)
			}
		})
	}
	tasks.Wait()
}

func (r *registry) all() []*session.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.sessions))
}

func (r *registry) each(f func(*session.Session)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	for _, s := range r.sessions {
		f(s)
	}
}

const (
	// obeyPause is the interval between checks whether every session obeys.
	obeyPause = 2 * time.Millisecond
	// preemptPause is the interval between attempts to preempt sessions.
	preemptPause = 100 * time.Millisecond
)

// waitUntilObeyed waits until nothing is running under a map older than version on the genes in held, or nothing at all if
// held is empty. It ends and rolls back statements and transactions that delay a fence for longer than patience.
func (r *registry) waitUntilObeyed(ctx context.Context, version int64, held gene.Set, patience time.Duration) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	late := time.NewTimer(patience)
	defer late.Stop()
	if held.Empty() {
		late.Stop()
	}
	for !r.obeys(version, held) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-late.C:
			r.preempt(ctx, func(s *session.Session) bool { return s.Preempt(version, held) })
			late.Reset(preemptPause)
		}
	}
	return nil
}

// waitUntilSettled waits until all commands that were running at the call have ended. running decides which commands count, and
// returns the number of the session's command.
func (r *registry) waitUntilSettled(ctx context.Context, running func(*session.Session) (command uint64, busy bool)) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	pending := map[*session.Session]uint64{}
	for _, s := range r.all() {
		if command, busy := running(s); busy {
			pending[s] = command
		}
	}
	for {
		maps.DeleteFunc(pending, func(s *session.Session, command uint64) bool {
			now, busy := running(s)
			return !busy || now != command
		})
		if len(pending) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d sessions run statements that began before: %w", len(pending), context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

func (r *registry) obeys(version int64, held gene.Set) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if !s.Obeys(version, held) {
			return false
		}
	}
	return true
}

// preempt makes sessions give way to a fence. ask requests that from a session, and reports whether preempt must wait for the
// session. A statement whose shard can't be asked to end it is cut off.
func (r *registry) preempt(ctx context.Context, ask func(*session.Session) bool) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	places := make(chan struct{}, mostCancels)
	var tasks sync.WaitGroup
	for _, s := range r.all() {
		command, _ := s.Interrupts().Command() // read first: a later command may be on other genes
		if !ask(s) {
			continue
		}
		places <- struct{}{}
		tasks.Go(func() {
			defer func() { <-places }()
			if done, _ := s.Interrupts().Cancel(ctx, interrupt.Preempted, command); done {
				r.counts.Cancelled(interrupt.Preempted)
			}
		})
	}
	tasks.Wait()
}
