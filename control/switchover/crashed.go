package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"locus/control/declared"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/cluster"
)

// MariaDB's crash recovery completes its own interrupted commits by its binary log. It leaves the branches of
// clients' XA transactions prepared, whatever its log contains about them. So a killed server can come back
// with a prepared branch that its log, and thus every replica, has committed. Replication never adds the
// missing rows, because the server already has the transaction's GTID. The server can also come back with a
// branch that its log does not contain. Ending such a branch with a logged statement stops every replica:
// "XAER_NOTA: Unknown XID" (https://jira.mariadb.org/browse/MDEV-21777). The functions below end these branches
// as the log has them, without logging.

// branch is a prepared branch as XA RECOVER lists it.
type branch struct {
	format       uint32
	gtrid, bqual string
}

// xid returns the branch's ID in the form that statements in the log use.
func (b branch) xid() string { return fmt.Sprintf("X'%x',X'%x',%d", b.gtrid, b.bqual, b.format) }

// branches returns the branches that are prepared on a server.
func (s *server) branches(ctx context.Context) (list []branch, err error) {
	rows, err := s.conn.Own().Query(ctx, "XA RECOVER")
	if err != nil {
		return nil, fmt.Errorf("%s: XA RECOVER: %w", s.addr, err)
	}
	for _, row := range rows.Rows {
		format, err := strconv.ParseInt(string(row[0]), 10, 64)
		length, wrong := strconv.Atoi(string(row[1]))
		if err = errors.Join(err, wrong); err != nil || length < 0 || length > len(row[3]) {
			return nil, fmt.Errorf("%s: XA RECOVER returns a branch that can't be read: %q %w", s.addr, row, err)
		}
		list = append(list, branch{uint32(format), string(row[3][:length]), string(row[3][length:])})
	}
	return list, nil
}

// endUnlogged ends, without logging, those branches whose state after a crash differs from the server's own
// log. It calls rule for branches that the log does not contain. It returns the branches that the log has as
// prepared, whose end is logged as usual, and the number of branches that it has ended.
func (s *server) endUnlogged(ctx context.Context, at link.Server, list []branch, rule func(branch) twophase.Verdict) (logged []branch, ended int, err error) {
	if len(list) == 0 {
		return nil, 0, nil
	}
	files, err := s.logFiles(ctx)
	if err != nil || len(files) == 0 {
		return list, 0, err
	}
	var xids []string
	for _, b := range list {
		xids = append(xids, b.xid())
	}
	said, err := changes.LastWords(ctx, at, files, xids)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: look in its binary log for branches that are prepared there: %w", s.addr, err)
	}
	for _, b := range list {
		verdict := twophase.Unknown
		switch said[b.xid()] {
		case changes.Committed:
			verdict = twophase.Committed
		case changes.RolledBack:
			verdict = twophase.RolledBack
		case changes.Silent:
			verdict = rule(b)
		case changes.Prepared:
			logged = append(logged, b)
		}
		if verdict == twophase.Unknown {
			continue
		}
		if err := s.endBranch(ctx, b, verdict); err != nil {
			return logged, ended, err
		}
		ended++
	}
	return logged, ended, nil
}

// unknownBranch is the error code for a branch that the server does not have, or whose client is still
// connected (XAER_NOTA).
const unknownBranch = 1397

// endBranch ends a branch without logging it.
func (s *server) endBranch(ctx context.Context, b branch, verdict twophase.Verdict) error {
	verb := "XA COMMIT "
	if verdict == twophase.RolledBack {
		verb = "XA ROLLBACK "
	}
	if err := s.exec(ctx, "SET SESSION sql_log_bin = 0"); err != nil {
		return fmt.Errorf("end a prepared branch as in the server's log: %w: GRANT BINLOG ADMIN ON *.* TO the shard's admin account", err)
	}
	err := s.exec(ctx, verb+b.xid())
	if code(err) == unknownBranch {
		err = nil
	}
	return errors.Join(err, s.exec(ctx, "SET SESSION sql_log_bin = 1"))
}

// logFiles returns the files of the binary log, the newest last; none if the server has no binary log.
func (s *server) logFiles(ctx context.Context) (files []changes.LogFile, err error) {
	if on, err := s.one(ctx, "SELECT @@GLOBAL.log_bin"); err != nil || on != "1" {
		return nil, err
	}
	rows, err := s.rows(ctx, "SHOW BINARY LOGS")
	if err != nil {
		return nil, fmt.Errorf("%w: GRANT BINLOG MONITOR ON *.* TO the shard's admin account", err)
	}
	for _, row := range rows {
		size, err := strconv.ParseUint(row["file_size"], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: SHOW BINARY LOGS: %w", s.addr, err)
		}
		files = append(files, changes.LogFile{Name: row["log_name"], Size: size})
	}
	return files, nil
}

// Crashed ends branches on primaries whose state after a crash differs from the server's log. It is safe for
// concurrent use.
type Crashed struct {
	// Declared returns the cluster as this process knows it. The resolver of branches uses the same cluster.
	Declared func() *cluster.Cluster
	Secrets  func(name string) (string, error)
	Log      *slog.Logger

	mu     sync.Mutex // guards logged
	logged map[router.ShardName]looked
}

// looked caches the branches that the log shows as prepared. It is valid for one run of a server, and saves another read of
// the log.
type looked struct {
	addr    string
	started time.Time // accurate to clockwork
	known   []branch
}

func (l looked) covers(addr string, started time.Time, list []branch) bool {
	return l.addr == addr && started.Sub(l.started).Abs() <= clockwork && !slices.ContainsFunc(list, func(b branch) bool { return !slices.Contains(l.known, b) })
}

// End ends such branches on a shard's primary, as [twophase.Options] requires. It does nothing for a shard with
// a single server, because that server's log has no readers.
func (c *Crashed) End(ctx context.Context, shard router.ShardName, branches []twophase.Name, verdict func(twophase.Name) twophase.Verdict) error {
	now := c.Declared()
	declares := now.Shards[shard]
	if !declares.HasServers() || declares.Admin.User == "" {
		return nil
	}
	addr := declares.Address
	if p, told := now.Primaries[shard]; told {
		addr = p.Server
	}
	order := Switchover{Secrets: c.Secrets, Shard: shard, Log: c.Log}
	s, err := order.once(ctx, declared.Primary{Cluster: now, Shard: shard}, addr)
	if err != nil {
		return err
	}
	defer s.close(context.WithoutCancel(ctx))
	if !s.mariadb {
		return nil // MySQL's crash recovery follows the log from 8.0.30 on
	}
	up, err := s.started(ctx)
	if err != nil {
		return err
	}
	list := make([]branch, len(branches))
	for i, b := range branches {
		list[i] = branch{twophase.Format, b.Transaction, string(b.Home)}
	}
	if c.known(shard).covers(s.addr, up, list) {
		return nil
	}
	at, err := order.logServer(declares, s.addr)
	if err != nil {
		return err
	}
	logged, ended, err := s.endUnlogged(ctx, at, list, func(b branch) twophase.Verdict {
		return verdict(twophase.Name{Transaction: b.gtrid, Home: router.ShardName(b.bqual)})
	})
	if ended > 0 {
		c.Log.Warn(endedBranches, slog.String("shard", string(shard)), slog.String("addr", s.addr), slog.Int("branches", ended))
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.logged == nil {
		c.logged = map[router.ShardName]looked{}
	}
	c.logged[shard] = looked{s.addr, up, logged}
	return nil
}

const endedBranches = "prepared branches that differed from the server's log after a crash were ended, without a record in the log"

func (c *Crashed) known(shard router.ShardName) looked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logged[shard]
}

// endCrashed ends such branches on a server that is to follow the primary. A branch that is in neither server's
// log was never acknowledged, so it is rolled back.
func (r *run) endCrashed(ctx context.Context, s *server) error {
	if !s.mariadb {
		return nil
	}
	at, err := r.logServer(r.doc.Cluster.Shards[r.Shard], s.addr)
	if err != nil {
		return err
	}
	list, err := s.branches(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	there, err := r.primary.branches(ctx)
	if err != nil {
		return err
	}
	_, ended, err := s.endUnlogged(ctx, at, list, func(b branch) twophase.Verdict {
		if slices.Contains(there, b) {
			return twophase.Unknown
		}
		return twophase.RolledBack
	})
	if ended > 0 {
		r.Log.Warn(endedBranches, slog.String("shard", string(r.Shard)), slog.String("addr", s.addr), slog.Int("branches", ended))
	}
	return err
}

// logServer returns the address and the credentials for reading a server's binary log.
func (s Switchover) logServer(shard cluster.Shard, addr string) (link.Server, error) {
	target, err := adminTarget(s.Shard, shard, addr, s.Secrets)
	if err != nil {
		return link.Server{}, err
	}
	password, err := target.Password()
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, err
}
