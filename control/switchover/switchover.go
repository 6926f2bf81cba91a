package switchover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/cluster"
)

// Switchover makes a server the primary of a shard.
type Switchover struct {
	KV      *etcd.KV // the cluster's
	Secrets func(name string) (string, error)
	Shard   router.ShardName
	To      string // host:port, one of the shard's servers
	By      string
	Log     *slog.Logger
	// Stop is called before each line, in tests.
	Stop func(Line)
}

// ClaimPrefix begins the keys of shards whose servers change roles, each the lease of
// the one process that does it.
const ClaimPrefix = "switching/"

const (
	claimTTL = 5 * time.Second
	// claimPatience is how long the claim of a process that died is waited for.
	claimPatience = 2 * claimTTL
	before        = 10 * time.Second // for what is done while nothing is held
	// within bounds the time from the hold to the turn: less than proxies hold statements.
	within = 1500 * time.Millisecond
	after  = 30 * time.Second // for what is done after the turn, and for what mends
)

// UnfinishedError is a switchover that took place, with something left to do: the same order does it.
type UnfinishedError struct {
	Primary string
	Err     error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%s is the primary now, but not all is done; a mover, or the same order again, does the rest: %v", e.Primary, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }

// Run does it, or says why not. What was broken off before is mended first. The error is
// a *Refused, with nothing changed; an *UnfinishedError; or the primary is the one before,
// and takes writes unless the error says that this could not be reached.
func (s Switchover) Run(ctx context.Context) (held time.Duration, err error) {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return 0, err
	}
	if err := member(now.Cluster, s.Shard, s.To); err != nil {
		return 0, err
	}
	r, release, err := s.claim(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	return r.all(ctx)
}

// Mend ends a switchover that was broken off: one that has not come to its turn is undone,
// one that has is finished. To is not looked at. It does nothing to a shard that is settled,
// and the error is [etcd.ErrHeld] while another process is at it.
func (s Switchover) Mend(ctx context.Context) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.mend(ctx)
}

// claim waits for the lease of who did it before, and perhaps died.
func (s Switchover) claim(ctx context.Context) (r *run, release func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, claimPatience)
	defer cancel()
	for {
		r, release, err = s.take(waiting)
		if !errors.Is(err, etcd.ErrHeld) {
			return r, release, err
		}
		select {
		case <-time.After(lookEvery):
		case <-waiting.Done():
			return nil, nil, &Refused{[]string{fmt.Sprintf("another process changes the roles of the servers of shard %s: wait for its end", s.Shard)}}
		}
	}
}

// take takes the claim, or says that another process has it.
func (s Switchover) take(ctx context.Context) (r *run, release func(), err error) {
	token := []byte(fmt.Sprintf("%s %016x", s.By, rand.Uint64()))
	lock, err := s.KV.Lock(ctx, ClaimPrefix+string(s.Shard), token, claimTTL)
	if err != nil {
		return nil, nil, err
	}
	r = &run{Switchover: s, lost: lock.Lost(), token: token}
	return r, func() {
		r.hangUp(context.WithoutCancel(ctx))
		lock.Release()
	}, nil
}

// run is one that has the claim.
type run struct {
	Switchover
	lost    <-chan struct{} // closed: another process may have the claim
	token   []byte          // what the claim holds, of this run alone
	doc     declared.Primary
	servers map[string]*server
	next    *server // of doc.Next, or what is to be it
	primary *server
	judge   Judge            // of Follow, Take and Promote
	cause   cluster.Cause    // of the order
	giveUp  bool             // of Take
	away    map[string]error // servers that Look could not reach
	undone  []error          // what Gather could not do
	strays  bool             // and of the former primary
	left    time.Time        // when Leave was written
	// unreached is why next can't be reached, where that is no reason to leave the
	// primary as it is.
	unreached error
}

func (r *run) hangUp(ctx context.Context) {
	for _, s := range r.servers {
		s.close(ctx)
	}
	r.servers = nil
}

// all goes through the orders that lead to the end.
func (r *run) all(ctx context.Context) (held time.Duration, err error) {
	if err := r.read(ctx); err != nil {
		return 0, err
	}
	if r.doc.Next != "" {
		if err := r.within(ctx, after, r.mending()); err != nil {
			return 0, fmt.Errorf("repair the interrupted switchover to %s: %w", r.doc.Next, err)
		}
	}
	if r.doc.Server != r.To {
		if held, err = r.begin(ctx); err != nil {
			return held, err
		}
	}
	if err := r.within(ctx, after, Finish); err != nil {
		return held, &UnfinishedError{r.doc.Server, err}
	}
	return held, nil
}

// mend goes through the order that the document asks for, if it asks for one.
func (r *run) mend(ctx context.Context) error {
	if err := r.read(ctx); err != nil || r.doc.Settled() {
		return err
	}
	r.To = r.doc.Target()
	if r.doc.Cause == cluster.Taken { // somebody has decided, and both servers may be read-only
		return r.takeServer(ctx)
	}
	order := Finish
	if r.doc.Next != "" {
		order = r.mending()
	}
	if err := r.within(ctx, after, order); err != nil {
		return fmt.Errorf("a switchover to %s that was broken off: %w", r.To, err)
	}
	r.Log.Info("a switchover that was broken off is ended", slog.String("shard", string(r.Shard)), slog.String("to", r.To), slog.String("primary", r.doc.Server))
	return nil
}

// mending is the order that ends what has not come to its turn.
func (r *run) mending() []Line {
	if r.doc.Cause == cluster.Found {
		return Drop
	}
	return Mend
}

// begin turns, or undoes everything.
func (r *run) begin(ctx context.Context) (held time.Duration, err error) {
	at := len(Begin[:2])
	if err := r.within(ctx, before, Begin[:at]); err != nil {
		return 0, err
	}
	began := time.Now()
	err = r.within(ctx, within, Begin[at:])
	held = time.Since(began)
	if errors.Is(err, etcd.ErrUnknown) {
		err = r.settled(ctx, err)
	}
	if err == nil {
		r.Log.Info("switchover", slog.String("shard", string(r.Shard)), slog.String("primary", r.To), slog.Duration("held", held))
		return held, nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), after)
	defer cancel()
	if mending := r.undo(undo); mending != nil {
		return held, errors.Join(err, fmt.Errorf("and %s may still refuse writes: give the same order again: %w", r.primary.addr, mending))
	}
	return held, fmt.Errorf("nothing has changed hands, %s is the primary: %w", r.primary.addr, err)
}

// settled turns an unknown outcome of the turn into a known one.
func (r *run) settled(ctx context.Context, unknown error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), before)
	defer cancel()
	if err := r.read(ctx); err != nil {
		return errors.Join(unknown, err)
	}
	if r.doc.Server == r.To {
		return nil
	}
	return unknown
}

// undo mends what this process has begun.
func (r *run) undo(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.doc.Next == "" { // the hold was never written
		return nil
	}
	r.hangUp(ctx) // what a connection was sent last may still be under way
	return r.lines(ctx, r.mending())
}

// read reads the document anew.
func (r *run) read(ctx context.Context) (err error) {
	r.doc, err = declared.ReadPrimary(ctx, r.KV, r.Shard)
	return err
}

func (r *run) replace(ctx context.Context, next cluster.Primary) (err error) {
	r.doc, err = r.doc.Replace(ctx, r.KV, next)
	if errors.As(err, new(*etcd.Conflict)) {
		return fmt.Errorf("the shard or its primary has changed meanwhile, try again: %w", err)
	}
	return err
}

func (r *run) within(ctx context.Context, limit time.Duration, lines []Line) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return r.lines(ctx, lines)
}

func (r *run) lines(ctx context.Context, lines []Line) error {
	for _, line := range lines {
		if r.Stop != nil {
			r.Stop(line)
		}
		select {
		case <-r.lost:
			return fmt.Errorf("%s: this process has lost its lease in etcd", line)
		default:
		}
		if err := r.do(ctx, line); err != nil {
			if _, refused := errors.AsType[*Refused](err); refused {
				return err
			}
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// dial connects to a server of the shard by the account that changes roles.
func (r *run) dial(ctx context.Context, addr string) (*server, error) {
	if s := r.servers[addr]; s != nil {
		return s, nil
	}
	target, err := adminTarget(r.Shard, r.doc.Cluster.Shards[r.Shard], addr, r.Secrets)
	if err != nil {
		return nil, err
	}
	s, err := dial(ctx, target)
	if err != nil {
		return nil, err
	}
	// A claim that is seen to be ours only now is nobody else's before the connection
	// was there: whoever has it next ends the connection.
	if claim, _, err := r.KV.Get(ctx, ClaimPrefix+string(r.Shard)); err != nil || !bytes.Equal(claim, r.token) {
		s.close(ctx)
		return nil, errors.Join(errors.New("this process has lost its lease in etcd"), err)
	}
	if r.servers == nil {
		r.servers = map[string]*server{}
	}
	r.servers[addr] = s
	return s, nil
}

// target is how proxies reach a server.
func (r *run) target(addr string) (backend.Target, error) {
	return targetOf(r.Shard, r.doc.Cluster.Shards[r.Shard], addr, r.Secrets)
}

func targetOf(name router.ShardName, shard cluster.Shard, addr string, secrets func(string) (string, error)) (backend.Target, error) {
	target, err := schema.Target(name, shard, secrets)
	target.Addr, target.Replicas = addr, nil
	return target, err
}

// adminTarget is how a server is reached by the account that changes roles.
func adminTarget(name router.ShardName, shard cluster.Shard, addr string, secrets func(string) (string, error)) (backend.Target, error) {
	if shard.Admin.User == "" {
		return backend.Target{}, &Refused{[]string{fmt.Sprintf("shard %s has no admin: {user: …, secret: …}, the account by which servers change roles: declare it (locus apply)", name)}}
	}
	target, err := targetOf(name, shard, addr, secrets)
	target.User, target.Password = shard.Admin.User, func() (string, error) { return secrets(shard.Admin.Secret) }
	return target, err
}
