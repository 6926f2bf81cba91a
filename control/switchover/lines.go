package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"locus/control/fleet"
	"locus/internal/steps"
)

// do executes one step.
func (r *run) do(ctx context.Context, line Line) error {
	switch line {
	case TakeOver:
		return r.takeOver(ctx)
	case Check:
		return r.check(ctx)
	case Hold:
		return r.replace(ctx, r.doc.BeginSwitchover(r.To, r.By))
	case Obeyed:
		return r.obeyed(ctx)
	case ReadOnly:
		return r.readOnly(ctx)
	case Position:
		return r.position(ctx)
	case Writable:
		return r.writable(ctx)
	case Turn:
		return r.turn(ctx)
	case Look:
		return r.look(ctx)
	case Leave:
		return r.leave(ctx)
	case Left:
		return r.awaitLeft(ctx)
	case OthersReadOnly:
		return r.othersReadOnly(ctx)
	case Received:
		return r.received(ctx)
	case LookAgain:
		return r.lookAgain(ctx)
	case FormerReadOnly, Former:
		return r.former(ctx, line)
	case Others:
		return r.others(ctx)
	case Gather:
		return r.gather(ctx)
	case Seize:
		return r.replace(ctx, r.doc.Again(r.By))
	case Demote:
		return r.onNext(func(s *server) error { return s.setReadOnly(ctx, true) })
	case Rejoin:
		return r.onNext(func(s *server) error { return s.exec(ctx, "START REPLICA") })
	case Restore:
		return r.restore(ctx)
	case Without:
		return r.goOn(ctx)
	case With:
		return r.replace(ctx, r.doc.WithReplicas(r.By))
	case Settle:
		if r.strays { // the document must keep the former primary until that one follows
			return nil
		}
		if r.doc.Settled() && r.doc.Epoch > 0 {
			return nil
		}
		return r.replace(ctx, r.doc.Settle(r.By))
	}
	return fmt.Errorf("no such line")
}

// writable ends the replication of the next primary and makes it writable.
func (r *run) writable(ctx context.Context) error {
	next := r.servers[r.To]
	v, err := next.look(ctx)
	if err == nil && v.Follows != "" {
		err = next.stopFollowing(ctx)
	}
	if err == nil && r.promotes() {
		err = next.waitAsPrimary(ctx)
	}
	if err != nil {
		return err
	}
	return next.setReadOnly(ctx, false)
}

// onNext applies do to the server that was to become the primary. If that server is unreachable, the rollback continues,
// because no proxy was ever sent there to write.
func (r *run) onNext(do func(*server) error) error {
	err := r.unreached
	if err == nil {
		err = do(r.next)
	}
	if err != nil {
		r.Log.Warn("the server that was to be the primary was not changed: make sure that it is read-only and follows", slog.String("shard", string(r.Shard)), slog.Any("error", err))
	}
	return nil
}

// restore makes the primary writable again, unless another server is writable.
func (r *run) restore(ctx context.Context) error {
	v, err := r.primary.look(ctx)
	if err == nil && r.promotes() {
		err = r.awaitReplicas(ctx)
	}
	if err != nil || !v.ReadOnly {
		return err
	}
	for _, addr := range r.doc.Cluster.Shards[r.Shard].Servers {
		other, err := r.dial(ctx, addr)
		if err != nil || other == r.primary {
			continue
		}
		if v, err := other.look(ctx); err == nil && !v.ReadOnly {
			return fmt.Errorf("%s takes writes, and is not the primary: SET GLOBAL read_only = ON there first", addr)
		}
	}
	return r.primary.setReadOnly(ctx, false)
}

// takeOver connects to all servers of the role change and ends the connections of earlier role changes. A
// process that was suspended and lost its lease can then no longer change a server.
func (r *run) takeOver(ctx context.Context) (err error) {
	if r.primary, err = r.dial(ctx, r.doc.Server); err != nil {
		return err
	}
	mends := r.doc.Next != ""
	next := r.To
	if mends {
		next = r.doc.Next
	}
	r.next, r.unreached = r.dial(ctx, next)
	if r.unreached != nil && !mends {
		return r.unreached
	}
	admin := r.doc.Cluster.Shards[r.Shard].Admin.User
	for _, s := range r.servers {
		if err := s.endOthers(ctx, admin); err != nil {
			return err
		}
	}
	return nil
}

// check collects all problems that prevent the switchover.
func (r *run) check(ctx context.Context) (err error) {
	s := seen{shard: r.Shard, declared: r.doc.Cluster}
	if s.next, err = r.next.connected(ctx); err != nil { // read before the primary, whose GTID set only grows
		return err
	}
	if s.primary, err = r.primary.look(ctx); err != nil {
		return err
	}
	if s.errant, err = Missing(s.next.MariaDB, s.next.Has, s.primary.Has); err != nil {
		return err
	}
	if s.underWay, err = r.primary.underWay(ctx); err != nil {
		return err
	}
	if s.prepared, err = r.primary.prepared(ctx); err != nil {
		return err
	}
	if s.right, err = r.right(ctx); err != nil {
		return err
	}
	for _, at := range []*server{r.primary, r.next} {
		missing, err := at.lacks(ctx)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			s.lacks = append(s.lacks, at.addr+": "+strings.Join(missing, ", "))
		}
	}
	if err = r.awaitProxies(ctx, before/3); err != nil {
		missing, is := errors.AsType[*steps.MissingError](err)
		if !is {
			return err
		}
		s.old = steps.Names(missing.Missing)
	}
	if problems := s.judge(); len(problems) > 0 {
		return &Refused{problems}
	}
	position, err := r.primary.position(ctx)
	if err != nil {
		return err
	}
	catching, cancel := context.WithTimeout(ctx, mostBehind)
	defer cancel()
	if err := r.next.has(catching, position); err != nil {
		if catching.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s did not catch up with the primary within %s", r.next.addr, mostBehind)
		}
		return &Refused{[]string{err.Error() + ": wait until it has caught up"}}
	}
	return nil
}

// mostBehind is the time that a replica may need to catch up with the primary.
const mostBehind = time.Second

// connected polls a server until it is connected to its source, for at most mostBehind: its replication may
// have just been started. If its I/O thread has stopped with an error, connected starts it once. An I/O thread
// does not retry by itself if its connection is killed during the login, which an interrupted role change may
// have done.
func (s *server) connected(ctx context.Context) (View, error) {
	again := false
	for began := time.Now(); ; {
		v, err := s.look(ctx)
		if err != nil || !v.Connects && !v.Broken || time.Since(began) > mostBehind {
			return v, err
		}
		if v.Broken && !again {
			again = true
			if err := s.exec(ctx, "START REPLICA"); err != nil {
				return v, err
			}
		}
		if err := pause(ctx, 10*lookEvery); err != nil {
			return v, err
		}
	}
}

// right returns the privilege by which the proxies' account can write to read-only servers, or "" if it can't.
func (r *run) right(ctx context.Context) (string, error) {
	target, err := r.target(r.doc.Server)
	if err != nil {
		return "", err
	}
	s, err := dial(ctx, target)
	if err != nil {
		return "", err
	}
	defer s.close(context.WithoutCancel(ctx))
	grants, err := s.grants(ctx)
	return s.writesAnyway(grants), err
}

// lookEvery is the interval between checks of the versions that the proxies obey.
const lookEvery = 5 * time.Millisecond

// obeyed waits until every live proxy has paused its statements for the shard.
func (r *run) obeyed(ctx context.Context) error { return r.awaitProxies(ctx, before) }

// awaitProxies waits until every live proxy obeys the document, at most for the given time. Then the error is a *steps.MissingError.
func (r *run) awaitProxies(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return steps.Barrier{
		Condition: fmt.Sprintf("obeys epoch %d of the primary of shard %s", r.doc.Epoch, r.Shard), Every: lookEvery,
		Read: func(ctx context.Context) ([]steps.Missing, error) {
			return fleet.BehindPrimary(ctx, r.KV, r.Shard, r.doc.Epoch)
		},
	}.Wait(ctx)
}

// readOnly makes the primary read-only for every account. It ends the connections of all proxies, including
// those that etcd counts as dead. Their new connections then find a read-only server.
func (r *run) readOnly(ctx context.Context) error {
	user := r.doc.Cluster.Shards[r.Shard].User
	if err := r.primary.endOthers(ctx, user); err != nil {
		return err
	}
	for {
		n, err := r.primary.prepared(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("%d transactions are prepared at %s and not decided: %w", n, r.primary.addr, err)
		}
	}
	if err := r.primary.setReadOnly(ctx, true); err != nil {
		return err
	}
	return r.primary.endOthers(ctx, user) // connections opened since the first call
}

func (r *run) position(ctx context.Context) error {
	position, err := r.primary.position(ctx)
	if err != nil {
		return err
	}
	return r.next.has(ctx, position)
}

// turn writes the document that names the new primary. This is the commit point.
func (r *run) turn(ctx context.Context) error {
	if err := r.replace(ctx, r.doc.Promote(r.By)); err != nil {
		return err
	}
	r.primary, r.next = r.next, r.primary
	return nil
}

// former makes the former primary a replica.
func (r *run) former(ctx context.Context, line Line) error {
	if r.doc.Former == "" {
		return nil
	}
	former, err := r.dial(ctx, r.doc.Former)
	switch {
	case err != nil:
		return err
	case line == FormerReadOnly:
		return former.setReadOnly(ctx, true)
	}
	if err := r.primary.exec(ctx, "RESET REPLICA ALL"); err != nil {
		return err
	}
	return r.followed(ctx, former)
}

// others makes the remaining servers replicas of the primary.
func (r *run) others(ctx context.Context) error {
	var errs []error
	for _, addr := range r.doc.Cluster.Shards[r.Shard].Servers {
		if addr == r.doc.Server || addr == r.doc.Former {
			continue
		}
		other, err := r.dial(ctx, addr)
		if err == nil {
			err = r.followed(ctx, other)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// followed makes a server a replica of the primary, unless it is one already, or has transactions that the
// primary lacks.
func (r *run) followed(ctx context.Context, s *server) error {
	switch id, err := s.one(ctx, "SELECT "+rebuilder); {
	case err != nil:
		return err
	case id != "":
		return fmt.Errorf("%s is being rebuilt, and follows when that is done", s.addr)
	}
	v, err := s.look(ctx)
	if err != nil {
		return err
	}
	primary, err := r.primary.look(ctx)
	switch there := v.Follows == primary.Identity; {
	case err != nil || there && v.Stopped == "":
		return err
	case there && v.Paused && r.promotes():
		return s.exec(ctx, "START REPLICA IO_THREAD")
	case there && r.promotes(): // this server may be the only one that has the transactions that it received
		return nil
	case v.Follows != "" && !v.Paused && r.promotes(): // transactions received from now on would be lost, or become errant
		if err := s.stopReceiving(ctx); err != nil {
			return err
		}
		if v, err = s.look(ctx); err != nil {
			return err
		}
	}
	errant, err := Missing(v.MariaDB, v.All(), primary.Has)
	switch {
	case err != nil:
		return err
	case errant != "":
		return fmt.Errorf("%s has transactions that %s does not have, and can't follow it: %s", s.addr, r.primary.addr, errant)
	case !v.ReadOnly:
		if err := s.setReadOnly(ctx, true); err != nil {
			return err
		}
	}
	if v.Follows == "" {
		if err := r.endCrashed(ctx, s); err != nil {
			return err
		}
	}
	if v.Has == "" && primary.Has != "" {
		if err := s.untold(ctx); err != nil {
			return err
		}
	}
	if r.promotes() {
		if err := s.waitForNobody(ctx); err != nil {
			return err
		}
	}
	if err := s.follow(ctx, r.primary); err != nil {
		return err
	}
	return r.follows(ctx, s)
}

// untold returns an error if a server without GTIDs has tables. Such a server is a copy whose GTID position was
// never set. Replication would send it everything again, from the beginning of the primary's logs.
func (s *server) untold(ctx context.Context) error {
	list := "INNODB_TABLES"
	if s.mariadb {
		list = "INNODB_SYS_TABLES"
	}
	n, err := s.one(ctx, "SELECT COUNT(*) FROM information_schema."+list+" WHERE NAME LIKE '%/%' AND NAME NOT LIKE 'mysql/%' AND NAME NOT LIKE 'sys/%'")
	if err == nil && n != "0" {
		err = fmt.Errorf("%s has tables and no GTIDs: set the GTIDs of its backup before it can follow (as in docs/how-to/backup-and-restore.md)", s.addr)
	}
	return err
}

// follows waits until a server's replication runs.
func (r *run) follows(ctx context.Context, s *server) error {
	for {
		v, err := s.look(ctx)
		if err != nil || v.Stopped == "" {
			return err
		}
		if err := pause(ctx, 10*lookEvery); err != nil {
			return fmt.Errorf("%s does not follow %s: %s: %w", s.addr, r.primary.addr, v.Stopped, err)
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
