package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"locus/config/etcd"
	"locus/router/cluster"
)

// Promote makes the server that the judge names the primary. It calls the judge under the lease, and again
// after all proxies have stopped using the former primary. It resumes an interrupted promotion, or undoes it if
// the judge names the former primary. The error is [etcd.ErrHeld] while another process changes roles. If the
// outcome is unknown, the shard's document contains it.
func (s Switchover) Promote(ctx context.Context, judge Judge) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	r.To, r.judge, r.cause = "", judge, cluster.Lost
	return r.promote(ctx)
}

// ApplyingError reports that the server to promote has not applied everything that it received.
type ApplyingError struct {
	Server string
	Err    error
}

func (e *ApplyingError) Error() string {
	return fmt.Sprintf("%s is to be the primary, and first applies the transactions that it has received: %v", e.Server, e.Err)
}

func (e *ApplyingError) Unwrap() error { return e.Err }

// applying bounds the wait for that in one poll.
const applying = 5 * time.Second

func (r *run) promote(ctx context.Context) error {
	switch err := r.read(ctx); {
	case err != nil:
		return err
	case r.doc.Next != "" && r.doc.Cause != cluster.Lost:
		return fmt.Errorf("a switchover to %s has not ended", r.doc.Target())
	}
	if err := r.run(ctx, toJudge); err != nil {
		return err
	}
	if r.To != r.doc.Server {
		if err := r.caughtUp(ctx); err != nil {
			return err
		}
		return r.over(ctx)
	}
	if r.doc.Next == "" {
		return nil
	}
	return r.run(ctx, toMend)
}

// caughtUp waits until the server to promote has applied everything it received. Meanwhile proxies that reach
// the primary still use it.
func (r *run) caughtUp(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, applying)
	defer cancel()
	if err := r.servers[r.To].applied(waiting); err != nil {
		return &ApplyingError{r.To, err}
	}
	return nil
}

// Tidy makes the primary writable, and makes all other reachable servers read-only replicas of it, as the
// document declares. A server with errant transactions is made read-only and does not follow. The error is
// [etcd.ErrHeld] while another process changes roles.
func (s Switchover) Tidy(ctx context.Context) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := r.read(ctx); err != nil {
		return err
	}
	if r.doc.Next != "" {
		return fmt.Errorf("a switchover to %s has not ended", r.doc.Target())
	}
	r.To = r.doc.Server
	err = r.run(ctx, toTidy)
	return errors.Join(append(r.undone, err)...)
}

// gathering bounds the changes to one server.
const gathering = 5 * time.Second

// gather makes all servers but the primary read-only replicas of it. It collects failures and continues.
func (r *run) gather(ctx context.Context) error {
	r.undone, r.strays = nil, false
	if v, err := r.primary.look(ctx); err != nil {
		return err
	} else if v.Source != "" { // the primary must not resume replication after a restart
		if err := r.primary.exec(ctx, "STOP REPLICA", "RESET REPLICA ALL"); err != nil {
			return err
		}
	}
	for _, addr := range without(r.doc.Cluster.Shards[r.Shard].Servers, r.doc.Server) {
		if err := r.gatherOne(ctx, addr); err != nil {
			r.undone, r.strays = append(r.undone, err), r.strays || addr == r.doc.Former
		}
	}
	return nil
}

func (r *run) gatherOne(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, gathering)
	defer cancel()
	s, err := r.dial(ctx, addr)
	if err != nil {
		return err
	}
	shard := r.doc.Cluster.Shards[r.Shard]
	if err := s.endOthers(ctx, shard.Admin.User); err != nil {
		return err
	}
	if err := r.fence(ctx, s); err != nil {
		return err
	}
	return r.followed(ctx, s)
}

// fence makes a writable server read-only and ends the proxies' connections to it.
func (r *run) fence(ctx context.Context, s *server) error {
	v, err := s.look(ctx)
	if err != nil || v.ReadOnly {
		return err
	}
	user := r.doc.Cluster.Shards[r.Shard].User
	if r.promotes() { // otherwise commits that wait forever for replicas prevent read_only from being set
		if _, err := s.kill(ctx, user); err != nil {
			return err
		}
		if err := s.waitForNobody(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(s.setReadOnly(ctx, true), s.endOthers(ctx, user)); err != nil {
		return err
	}
	r.Log.Warn("a server that is not to be the primary took writes, and is read-only now", slog.String("shard", string(r.Shard)), slog.String("addr", s.addr))
	return nil
}

// promotes reports whether locus itself chooses the shard's primary.
func (r *run) promotes() bool {
	return r.doc.Cluster.Shards[r.Shard].Failover == cluster.FailoverPromote
}

// over replaces the primary by To, or undoes that.
func (r *run) over(ctx context.Context) error {
	from, began := r.doc.Server, time.Now()
	err := r.run(ctx, toReplace)
	if errors.Is(err, etcd.ErrUnknown) {
		err = r.settled(ctx, err)
	}
	if err == nil {
		r.primary = r.servers[r.To]
		r.Log.Warn("another server is the primary", slog.String("shard", string(r.Shard)), slog.String("primary", r.To),
			slog.String("before", from), slog.String("cause", string(r.cause)), slog.Duration("held", time.Since(began)))
		if err := r.others(ctx); err != nil { // Finish or Tidy tries again once the former primary is reachable
			r.Log.Warn("a server does not follow yet", slog.String("shard", string(r.Shard)), slog.Any("error", err))
		}
		return nil
	}
	undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), after)
	defer cancel()
	mending := r.undo(undo)
	r.receiveAgain(undo)
	if mending != nil {
		return errors.Join(err, fmt.Errorf("and the shard may refuse writes: a mover continues; repeat the command, or take another server: %w", mending))
	}
	return fmt.Errorf("nothing has changed hands: %w", err)
}

// receiveAgain restarts the I/O threads of replicas after a promotion that did not happen. If it fails or the
// process dies, a mover restarts them once it reaches the primary.
func (r *run) receiveAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, gathering)
	defer cancel()
	for _, addr := range without(r.doc.Cluster.Shards[r.Shard].Servers, r.doc.Server) {
		s, err := r.dial(ctx, addr)
		if err != nil {
			continue
		}
		if v, err := s.look(ctx); err == nil && v.Paused {
			_ = s.exec(ctx, "START REPLICA IO_THREAD")
		}
	}
}

// stopReceiving stops the I/O thread of a server.
func (s *server) stopReceiving(ctx context.Context) error {
	if s.mariadb { // otherwise MariaDB asks the lost source to end the connection, and waits 5 s for an answer
		seconds, err := s.one(ctx, "SELECT @@GLOBAL.rpl_semi_sync_slave_kill_conn_timeout")
		if err != nil {
			return err
		}
		if seconds != "0" && seconds != "1" {
			if err := s.exec(ctx, "SET GLOBAL rpl_semi_sync_slave_kill_conn_timeout = 1"); err != nil {
				return err
			}
			defer func() { _ = s.exec(ctx, "SET GLOBAL rpl_semi_sync_slave_kill_conn_timeout = "+seconds) }()
		}
	}
	return s.exec(ctx, "STOP REPLICA IO_THREAD")
}
