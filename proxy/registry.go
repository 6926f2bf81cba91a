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

// registry knows the sessions.
type registry struct {
	mu       sync.Mutex
	sessions map[uint32]*session.Session
	users    map[uint32]string // who has logged in, by connection
	draining bool
	running  sync.WaitGroup
	counts   *session.Counts
}

// admit counts a login, or another user's on the same connection, unless the user
// has as many connections as there may be; 0 is no limit.
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

// add registers a session, unless the proxy is ending.
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

// Kill implements session.Sessions.
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

// processes describes every session.
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

// idleGrace is for how long a client has wanted nothing when its connection is closed
// although no answer goes out: short enough for a drain, and long beside the time that
// a statement is on its way.
const idleGrace = time.Second

// drain asks every session to end, waits for them as long as ctx lasts, and
// ends those that are left: so many it tells.
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
		r.dismiss(wanted)
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

// dismiss ends the sessions whose clients have wanted nothing since the last look,
// which it remembers.
func (r *registry) dismiss(wanted map[*session.Session]uint64) {
	r.each(func(s *session.Session) {
		now := s.Interrupts().Wanted()
		if before, seen := wanted[s]; seen && before == now {
			s.Interrupts().Dismiss()
		}
		wanted[s] = now
	})
}

// cutOff has the shards end what is under way: a statement whose connection is
// merely closed goes on there, and takes effect.
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
	// obeyPause is between looks whether every session obeys.
	obeyPause = 2 * time.Millisecond
	// preemptPause is between two times that sessions are made to.
	preemptPause = 100 * time.Millisecond
)

// obey waits until nothing goes on by a map older than version: on the genes that
// it holds, or with none at all. What holds up a fence for longer than patience
// is ended and rolled back.
func (r *registry) obey(ctx context.Context, version int64, held gene.Set, patience time.Duration) error {
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

// settle waits until no command is under way any more that was when it was called. What counts as under way is returned by
// running, with the command's number.
func (r *registry) settle(ctx context.Context, running func(*session.Session) (command uint64, busy bool)) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	under := map[*session.Session]uint64{}
	for _, s := range r.all() {
		if command, busy := running(s); busy {
			under[s] = command
		}
	}
	for {
		maps.DeleteFunc(under, func(s *session.Session, command uint64) bool {
			now, busy := running(s)
			return !busy || now != command
		})
		if len(under) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d sessions run statements that began before: %w", len(under), context.Cause(ctx))
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

// preempt has sessions give way to a fence: asked tells each to, and whether there is
// anything to wait for. A statement whose shard can't be asked to end it is cut off.
func (r *registry) preempt(ctx context.Context, asked func(*session.Session) bool) {
	ctx, cancel := context.WithTimeout(ctx, cancelTime)
	defer cancel()
	places := make(chan struct{}, mostCancels)
	var tasks sync.WaitGroup
	for _, s := range r.all() {
		command, _ := s.Interrupts().Command() // no later one: it may be on other genes
		if !asked(s) {
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
