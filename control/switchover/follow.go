package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/internal/steps"
	"locus/router"
	"locus/router/cluster"
)

// Sight is the result of polling a server. If Err is set, the poll failed and the View contains only the
// address.
type Sight struct {
	View
	Err error
}

// Judge returns the primary, given the results of a poll, or an error if the primary is not certain. The
// declared primary is the first of seen.
type Judge func(p cluster.Primary, seen []Sight) (primary string, err error)

// Follow makes the proxies use the primary that an external tool promoted. The judge has to confirm it twice:
// under the lease, and again after all proxies have stopped using the former primary. Follow changes no server.
// The error is [etcd.ErrHeld] while another process changes roles. If the outcome is unknown, the shard's
// document contains it.
func (s Switchover) Follow(ctx context.Context, judge Judge) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	r.judge, r.cause = judge, cluster.Found
	return r.follow(ctx)
}

const (
	// looking bounds a poll of one server, including the login.
	looking = 2 * time.Second
	// glancing bounds the poll of a server that was unreachable a moment before.
	glancing = 500 * time.Millisecond
	// leaving bounds the time from Leave to Turn. It is shorter than the time for which proxies pause
	// statements.
	leaving = 4 * time.Second
)

func (r *run) follow(ctx context.Context) error {
	switch err := r.read(ctx); {
	case err != nil:
		return err
	case !r.doc.Settled():
		return fmt.Errorf("a switchover to %s has not ended", r.doc.Target())
	}
	if err := r.run(ctx, toJudge); err != nil {
		return err
	}
	from, began := r.doc.Server, time.Now()
	err := r.run(ctx, toFollow)
	if errors.Is(err, etcd.ErrUnknown) {
		err = r.settled(ctx, err)
	}
	if err == nil {
		r.Log.Warn("another server is the primary", slog.String("shard", string(r.Shard)), slog.String("primary", r.To),
			slog.String("before", from), slog.Duration("held", time.Since(began)))
		return nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), before)
	defer cancel()
	return errors.Join(err, r.undo(undo))
}

// look polls all reachable servers, ends the connections of previous role changes, and calls the judge.
func (r *run) look(ctx context.Context) error {
	shard := r.doc.Cluster.Shards[r.Shard]
	r.away = map[string]error{}
	for _, addr := range shard.Servers {
		limit := looking
		if r.cause == cluster.Lost && addr == r.doc.Server {
			limit = glancing
		}
		limited, cancel := context.WithTimeout(ctx, limit)
		s, err := r.dial(limited, addr)
		if err == nil {
			err = s.endOthers(limited, shard.Admin.User)
		}
		cancel()
		if err != nil {
			r.away[addr] = err
		}
	}
	return r.lookAgain(ctx)
}

// lookAgain polls the servers again and calls the judge. It skips servers that were unreachable before.
func (r *run) lookAgain(ctx context.Context) error {
	ask := func(ctx context.Context, addr string) (*server, error) { return r.servers[addr], r.away[addr] }
	all := r.doc.Cluster.Shards[r.Shard].Servers
	groups := [][]string{{r.doc.Server}, without(all, r.doc.Server)}
	if r.cause == cluster.Taken {
		groups = [][]string{without(all, r.To), {r.To}}
	}
	to, err := r.judge(r.doc.Primary, lookAtAll(ctx, ask, groups...))
	switch {
	case err != nil:
		return err
	case r.cause == cluster.Lost && r.To == "":
		r.To = to
	case to != r.To:
		return fmt.Errorf("%s is the primary now", to)
	}
	return nil
}

// lookAtAll polls the groups of servers in order, and the servers of one group concurrently. Because of the
// order, a transaction that an earlier server has and a later one lacks is really missing there.
func lookAtAll(ctx context.Context, reach func(context.Context, string) (*server, error), groups ...[]string) (seen []Sight) {
	for _, group := range groups {
		sights := make([]Sight, len(group))
		var looks sync.WaitGroup
		for i, addr := range group {
			looks.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, looking)
				defer cancel()
				sights[i] = lookAt(ctx, addr, reach)
			})
		}
		looks.Wait()
		seen = append(seen, sights...)
	}
	return seen
}

func without(addrs []string, addr string) []string {
	return slices.DeleteFunc(slices.Clone(addrs), func(a string) bool { return a == addr })
}

func lookAt(ctx context.Context, addr string, reach func(context.Context, string) (*server, error)) Sight {
	s, err := reach(ctx, addr)
	if err != nil {
		return Sight{View{Addr: addr}, err}
	}
	v, err := s.look(ctx)
	if err != nil {
		return Sight{View{Addr: addr}, err}
	}
	return Sight{v, nil}
}

// leave writes the version of the document that makes proxies give up the primary.
func (r *run) leave(ctx context.Context) error {
	err := r.replace(ctx, r.doc.BeginChange(r.To, r.cause, r.By))
	r.left = time.Now()
	return err
}

// awaitLeft waits until no proxy can send the server a statement whose result reaches a client. Each proxy
// acknowledges this, or its lease has expired.
func (r *run) awaitLeft(ctx context.Context) error {
	err := r.awaitProxies(ctx, time.Until(r.left.Add(cluster.PrimaryLease+cluster.PrimaryLeaseMargin)))
	if _, missing := errors.AsType[*steps.MissingError](err); !missing {
		return err
	}
	if err := pause(ctx, time.Until(r.left.Add(cluster.PrimaryLease+cluster.PrimaryLeaseMargin))); err != nil {
		return err
	}
	cards, err := fleet.Cards(ctx, r.KV)
	if err != nil {
		return err
	}
	var unleased []string
	for _, c := range cards {
		if c.Primaries[r.Shard] < r.doc.Epoch && (!c.Leases || !r.doc.Cluster.Shards[r.Shard].Leased()) {
			unleased = append(unleased, c.ID)
		}
	}
	if len(unleased) > 0 {
		return fmt.Errorf("proxies without a lease may still send statements to %s: stop them, or wait until etcd considers them dead: %s", r.doc.Server, strings.Join(unleased, ", "))
	}
	return nil
}

// Lookout polls the servers of a shard repeatedly, over connections that it keeps. One goroutine at a time uses
// it.
type Lookout struct {
	Secrets func(name string) (string, error)

	mu      sync.Mutex // guards servers
	servers map[string]*server
	away    map[string]bool // servers that were unreachable at the last poll
}

// Look polls all declared servers of a shard. The given primary is the first in the result.
func (l *Lookout) Look(ctx context.Context, name router.ShardName, shard cluster.Shard, primary string) []Sight {
	kept := maps.Clone(l.servers)
	seen := l.look(ctx, name, shard, primary)
	lost := func(s Sight) bool { return s.Err != nil && kept[s.Addr] != nil }
	if slices.ContainsFunc(seen, lost) { // a switchover has killed the kept connections, or a server was restarted
		seen = l.look(ctx, name, shard, primary)
	}
	return seen
}

func (l *Lookout) look(ctx context.Context, name router.ShardName, shard cluster.Shard, primary string) []Sight {
	seen := lookAtAll(ctx, func(ctx context.Context, addr string) (*server, error) {
		l.mu.Lock()
		s := l.servers[addr]
		l.mu.Unlock()
		if s != nil {
			return s, nil
		}
		target, err := adminTarget(name, shard, addr, l.Secrets)
		if err == nil {
			if l.away[addr] {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, glancing)
				defer cancel()
			}
			s, err = dial(ctx, target)
		}
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.servers == nil {
			l.servers = map[string]*server{}
		}
		l.servers[addr] = s
		return s, nil
	}, []string{primary}, without(shard.Servers, primary))
	l.away = map[string]bool{}
	for _, one := range seen {
		if one.Err != nil {
			l.away[one.Addr] = true
			l.hangUp(ctx, one.Addr)
		}
	}
	return seen
}

func (l *Lookout) hangUp(ctx context.Context, addr string) {
	if s := l.servers[addr]; s != nil {
		delete(l.servers, addr)
		s.close(ctx)
	}
}

// Close closes the kept connections.
func (l *Lookout) Close(ctx context.Context) {
	for addr := range l.servers {
		l.hangUp(ctx, addr)
	}
}
