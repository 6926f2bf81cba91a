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

// Switchover is a request to make a server the primary of a shard.
type Switchover struct {
	KV      *etcd.KV // the cluster's keys
	Secrets func(name string) (string, error)
	Shard   router.ShardName
	To      string // host:port, one of the shard's servers
	By      string
	Log     *slog.Logger
	// Stop is called before each step, in tests.
	Stop func(Line)
}

// ClaimPrefix is the prefix of the keys by which a process claims a role change of a shard. Each key is bound
// to that process's lease.
const ClaimPrefix = "switching/"

const (
	claimTTL = 5 * time.Second
	// claimPatience bounds the wait for the claim of a process that has died.
	claimPatience = 2 * claimTTL
	before        = 10 * time.Second // time limit of the steps before statements are paused
	// within bounds the time from Hold to Turn. It is shorter than the time for which proxies pause statements.
	within = 1500 * time.Millisecond
	after  = 30 * time.Second // time limit of the steps after Turn, and of repairs
)

// UnfinishedError reports a switchover that has taken place, with steps left to do. The same command completes
// them.
type UnfinishedError struct {
	Primary string
	Err     error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("%s is the primary now, but not all steps are done; a mover, or the same command again, does the rest: %v", e.Primary, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }

// Run switches over. It first repairs an interrupted switchover. If the error is a *Refused, nothing was
// changed. If it is an *UnfinishedError, the switchover took place. After any other error the former primary is
// still the primary. It is writable unless the error reports that restoring it failed.
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

// Mend repairs an interrupted switchover: it undoes one that was interrupted before Turn, and completes one
// that was interrupted after it. Mend ignores To. It does nothing to a settled shard. The error is
// [etcd.ErrHeld] while another process changes roles.
func (s Switchover) Mend(ctx context.Context) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return r.mend(ctx)
}

// claim takes the claim, and waits if the lease of another process, which may have died, still holds it.
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

// take takes the claim, or returns [etcd.ErrHeld] if another process has it.
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

// run is the state of a process that holds the claim.
type run struct {
	Switchover
	lost    <-chan struct{} // closed when another process may have the claim
	token   []byte          // the value of the claim, unique to this run
	doc     declared.Primary
	servers map[string]*server
	next    *server // the server of doc.Next, or the one that is to become it
	primary *server
	judge   Judge            // judges the servers for Follow, Take and Promote
	cause   cluster.Cause    // the cause of the role change
	giveUp  bool             // for Take
	away    map[string]error // the errors of the servers that Look could not reach
	undone  []error          // the failures of Gather
	strays  bool             // whether Gather failed for the former primary
	left    time.Time        // when Leave was written
	// unreached is the error of connecting to next, where the role change can continue without it.
	unreached error
}

func (r *run) hangUp(ctx context.Context) {
	for _, s := range r.servers {
		s.close(ctx)
	}
	r.servers = nil
}

// all runs the procedures from the current document to a settled one.
func (r *run) all(ctx context.Context) (held time.Duration, err error) {
	if err := r.read(ctx); err != nil {
		return 0, err
	}
	if r.doc.Next != "" {
		if err := r.run(ctx, r.mending()); err != nil {
			return 0, fmt.Errorf("repair the interrupted switchover to %s: %w", r.doc.Next, err)
		}
	}
	if r.doc.Server != r.To {
		if held, err = r.begin(ctx); err != nil {
			return held, err
		}
	}
	if err := r.run(ctx, toFinish); err != nil {
		return held, &UnfinishedError{r.doc.Server, err}
	}
	return held, nil
}

// mend runs the procedure that the document requires, if it requires one.
func (r *run) mend(ctx context.Context) error {
	if err := r.read(ctx); err != nil || r.doc.Settled() {
		return err
	}
	r.To = r.doc.Target()
	if r.doc.Cause == cluster.Taken { // an operator has decided, and both servers may be read-only
		return r.takeServer(ctx)
	}
	todo := toFinish
	if r.doc.Next != "" {
		todo = r.mending()
	}
	if err := r.run(ctx, todo); err != nil {
		return fmt.Errorf("an interrupted switchover to %s: %w", r.To, err)
	}
	r.Log.Info("an interrupted switchover is ended", slog.String("shard", string(r.Shard)), slog.String("to", r.To), slog.String("primary", r.doc.Server))
	return nil
}

// mending returns the procedure that undoes a role change before Turn.
func (r *run) mending() part {
	if r.doc.Cause == cluster.Found {
		return toDrop
	}
	return toMend
}

// begin completes Turn, or undoes everything.
func (r *run) begin(ctx context.Context) (held time.Duration, err error) {
	if err := r.run(ctx, toCheck); err != nil {
		return 0, err
	}
	began := time.Now()
	err = r.run(ctx, toSwitch)
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
		return held, errors.Join(err, fmt.Errorf("and %s may still refuse writes: repeat the command: %w", r.primary.addr, mending))
	}
	return held, fmt.Errorf("nothing has changed hands, %s is the primary: %w", r.primary.addr, err)
}

// settled finds out whether Turn was written after an unknown outcome.
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

// undo undoes the changes of this process.
func (r *run) undo(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.doc.Next == "" { // the hold was never written
		return nil
	}
	r.hangUp(ctx) // a statement that was sent over a connection may still be running
	return r.lines(ctx, r.mending().lines)
}

// read reads the current document.
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

// run executes the lines of a part within their time limit.
func (r *run) run(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	return r.lines(ctx, p.lines)
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

// dial connects to a server of the shard with the admin account.
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
	// The claim is checked after connecting. If it is still ours now, no other process held it before, and the
	// next holder of the claim ends this connection.
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

// target returns the target by which proxies reach a server.
func (r *run) target(addr string) (backend.Target, error) {
	return targetOf(r.Shard, r.doc.Cluster.Shards[r.Shard], addr, r.Secrets)
}

func targetOf(name router.ShardName, shard cluster.Shard, addr string, secrets func(string) (string, error)) (backend.Target, error) {
	target, err := schema.Target(name, shard, secrets)
	target.Addr, target.Replicas = addr, nil
	return target, err
}

// adminTarget returns the target by which the admin account reaches a server.
func adminTarget(name router.ShardName, shard cluster.Shard, addr string, secrets func(string) (string, error)) (backend.Target, error) {
	if shard.Admin.User == "" {
		return backend.Target{}, &Refused{[]string{fmt.Sprintf("shard %s has no admin: {user: …, secret: …}, the account by which servers change roles: declare it (locus apply)", name)}}
	}
	target, err := targetOf(name, shard, addr, secrets)
	target.User, target.Password = shard.Admin.User, func() (string, error) { return secrets(shard.Admin.Secret) }
	return target, err
}
