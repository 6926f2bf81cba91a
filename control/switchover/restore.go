package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"

	"locus/control/declared"
	"locus/migrate/changes"
	"locus/proxy/twophase"
)

// MariaDB logs XA PREPARE before its storage engine prepares the branch, and in between waits for
// semi-synchronous replicas (rpl_semi_sync_master_wait_point = AFTER_SYNC). A server killed at that moment
// restarts without the branch, although its log and every replica have it. By its GTID set it already has the
// branch. So it follows the next primary until that one ends the branch, and then stops: "XAER_NOTA: Unknown
// XID". Until then, no other transaction can have changed the branch's rows. So the server repeats the changes
// from its log and prepares the branch again. Nothing is logged, because the log already contains it.

// endedBranch matches the branch that a replica should have ended and does not have, in the error of its
// applier. The rest of the message is in the server's language.
var endedBranch = regexp.MustCompile(`XA (?:COMMIT|ROLLBACK) (X'[0-9a-f]*',X'[0-9a-f]*',[0-9]+)`)

// lacks returns the branch without which the applier of a MariaDB replica has stopped; "" if it runs, or has
// stopped for another reason.
func lacks(errno, message string) string {
	if errno != strconv.Itoa(unknownBranch) {
		return ""
	}
	if m := endedBranch.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

// Restore makes a replica that lacks a branch ([View.Lacks]) prepare it again from its own log, and starts its
// applier. It changes nothing on a server that lacks none, and may be repeated. It needs no lease: whichever
// server is the primary, the branch is part of the replica's log.
func (s Switchover) Restore(ctx context.Context) error {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return err
	}
	if err := member(now.Cluster, s.Shard, s.To); err != nil {
		return err
	}
	xid, by, err := s.prepareAgain(ctx, now)
	if err != nil || xid == "" {
		return err
	}
	at, err := s.once(ctx, now, s.To)
	if err != nil {
		return err
	}
	defer at.close(context.WithoutCancel(ctx))
	if err := at.left(ctx, by); err != nil {
		return err
	}
	if err := at.exec(ctx, "START REPLICA SQL_THREAD"); err != nil {
		return err
	}
	s.Log.Warn("a branch that was missing after a crash was prepared again from the server's log, and the server continues to apply",
		slog.String("shard", string(s.Shard)), slog.String("addr", at.addr), slog.String("branch", xid))
	return nil
}

// prepareAgain prepares the branch that the server lacks, on a connection that it closes afterwards. No other
// connection can end the branch before that.
func (s Switchover) prepareAgain(ctx context.Context, now declared.Primary) (xid, connection string, err error) {
	at, err := s.once(ctx, now, s.To)
	if err != nil {
		return "", "", err
	}
	defer at.close(context.WithoutCancel(ctx))
	v, err := at.look(ctx)
	if err != nil || v.Lacks == "" {
		return "", "", err
	}
	if connection, err = at.one(ctx, "SELECT CONNECTION_ID()"); err != nil {
		return "", "", err
	}
	if there, err := at.hasBranch(ctx, v.Lacks); err != nil || there {
		return v.Lacks, connection, err
	}
	files, err := at.logFiles(ctx)
	if err != nil {
		return "", "", err
	}
	logs, err := s.logServer(now.Cluster.Shards[s.Shard], at.addr)
	if err != nil {
		return "", "", err
	}
	statements, err := changes.Replay(ctx, logs, files, v.Lacks)
	if err == nil && len(statements) == 0 {
		err = errors.New("its log does not contain it")
	}
	if err != nil {
		return "", "", fmt.Errorf("%s has stopped applying because the branch %s is missing and can't be prepared again: rebuild the server from the primary: %w", at.addr, v.Lacks, err)
	}
	return v.Lacks, connection, at.replay(ctx, v.Lacks, statements)
}

// replay repeats the statements of a branch, up to its XA PREPARE. If the connection ends before that, the
// server rolls back everything.
func (s *server) replay(ctx context.Context, xid string, statements []string) error {
	steps := slices.Concat([]string{"SET SESSION sql_log_bin = 0", statements[0], "XA START " + xid}, statements[1:], []string{"XA END " + xid, "XA PREPARE " + xid})
	for _, sql := range steps {
		if _, err := s.conn.Own().Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: repeat the changes of branch %s: %w: if a privilege is missing, GRANT BINLOG ADMIN, BINLOG REPLAY ON *.* TO the shard's admin account; otherwise rebuild the server", s.addr, xid, err)
		}
	}
	return nil
}

// hasBranch reports whether a branch is prepared on a server.
func (s *server) hasBranch(ctx context.Context, xid string) (bool, error) {
	list, err := s.branches(ctx)
	return slices.ContainsFunc(list, func(b branch) bool { return b.xid() == xid }), err
}

// left waits until the server has removed a closed connection. Only some time after the close does MariaDB let
// other connections end its prepared branch.
func (s *server) left(ctx context.Context, connection string) error {
	for {
		n, err := s.one(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = "+connection)
		if err != nil || n == "0" {
			return err
		}
		if err := pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("%s: connection %s has prepared a branch again, and has not ended yet: %w", s.addr, connection, err)
		}
	}
}

// EndLost ends branches of a replica that its primary has lost in such a crash: the primary's log has them as
// prepared, but the primary does not have them. They were never acknowledged, and no statement can commit them
// any more. The replica's applier may wait forever for rows that they lock. Nothing is logged. EndLost needs no
// lease, because a lost branch never comes back.
func (s Switchover) EndLost(ctx context.Context) error {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return err
	}
	if err := member(now.Cluster, s.Shard, s.To); err != nil || now.Server == s.To {
		return err
	}
	replica, err := s.once(ctx, now, s.To)
	if err != nil {
		return err
	}
	defer replica.close(context.WithoutCancel(ctx))
	primary, err := s.once(ctx, now, now.Server)
	if err != nil {
		return err
	}
	defer primary.close(context.WithoutCancel(ctx))
	v, err := replica.look(ctx)
	if err != nil {
		return err
	}
	lost, err := s.lost(ctx, now, replica, primary)
	if err != nil {
		return err
	}
	for _, b := range lost {
		if err := replica.endBranch(ctx, b, twophase.RolledBack); err != nil {
			return err
		}
		s.Log.Warn("a branch that the primary had lost in a crash was rolled back at a replica, without a record in the log",
			slog.String("shard", string(s.Shard)), slog.String("addr", replica.addr), slog.String("branch", b.xid()))
	}
	if len(lost) > 0 && !v.Applies && !v.Halted { // replication has stopped because it waited too long for the locked rows
		return replica.exec(ctx, "START REPLICA SQL_THREAD")
	}
	return nil
}

// lost returns the replica's branches that its primary has only in its log. The order of the reads matters. If
// the primary ends a branch meanwhile, its log contains the end. If it was about to prepare a branch, which it
// logs first, the second XA RECOVER shows it.
func (s Switchover) lost(ctx context.Context, now declared.Primary, replica, primary *server) ([]branch, error) {
	list, err := replica.branches(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	there, err := primary.branches(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(b branch) bool { return slices.Contains(there, b) })
	files, err := primary.logFiles(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	logs, err := s.logServer(now.Cluster.Shards[s.Shard], primary.addr)
	if err != nil {
		return nil, err
	}
	xids := make([]string, len(list))
	for i, b := range list {
		xids[i] = b.xid()
	}
	said, err := changes.LastWords(ctx, logs, files, xids)
	if err != nil {
		return nil, fmt.Errorf("%s: look in its binary log for branches that are prepared at %s: %w", primary.addr, replica.addr, err)
	}
	there, err = primary.branches(ctx)
	return slices.DeleteFunc(list, func(b branch) bool { return said[b.xid()] != changes.Prepared || slices.Contains(there, b) }), err
}
