package switchover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"locus/control/declared"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/proxy/backend"
	"locus/router/cluster"
)

// Errant holds the transactions that a server has and the primary of its shard never had.
type Errant struct {
	Server, Primary string
	MariaDB         bool
	// Promotes: locus promotes servers of the shard, and makes the other servers replicas by itself.
	Promotes bool
	// GTIDs are the errant transactions. If empty, the server can follow.
	GTIDs string
	// Unapplied are the errant transactions that are only in its relay log, perhaps in part.
	Unapplied string

	primary string // the primary's GTID set
}

// Errant polls the server and the primary. It changes nothing and needs no lease.
func (s Switchover) Errant(ctx context.Context) (Errant, error) {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return Errant{}, err
	}
	if err := member(now.Cluster, s.Shard, s.To); err != nil {
		return Errant{}, err
	}
	if now.Server == s.To {
		return Errant{}, &Refused{[]string{fmt.Sprintf("%s is the primary: make another server that first (locus switchover %s --to)", s.To, s.Shard)}}
	}
	e := Errant{Server: s.To, Primary: now.Server, Promotes: now.Cluster.Shards[s.Shard].Failover == cluster.FailoverPromote}
	server, err := s.lookOnce(ctx, now, s.To) // read before the primary, whose GTID set only grows
	if err != nil {
		return e, err
	}
	primary, err := s.lookOnce(ctx, now, now.Server)
	if err != nil {
		return e, err
	}
	e.MariaDB, e.primary = server.MariaDB, primary.Has
	if e.GTIDs, err = Missing(e.MariaDB, server.All(), primary.Has); err == nil && e.GTIDs != "" {
		e.Unapplied, err = Missing(e.MariaDB, e.GTIDs, server.Has)
	}
	return e, err
}

func (s Switchover) lookOnce(ctx context.Context, now declared.Primary, addr string) (View, error) {
	at, err := s.once(ctx, now, addr)
	if err != nil {
		return View{}, err
	}
	defer at.close(context.WithoutCancel(ctx))
	return at.look(ctx)
}

func (s Switchover) once(ctx context.Context, now declared.Primary, addr string) (*server, error) {
	target, err := adminTarget(s.Shard, now.Cluster.Shards[s.Shard], addr, s.Secrets)
	if err != nil {
		return nil, err
	}
	return dial(ctx, target)
}

// Save writes the errant transactions that are in the server's binary log to a file that mysqlbinlog and
// mariadb-binlog can read.
func (s Switchover) Save(ctx context.Context, e Errant, w io.Writer) ([]changes.Saved, error) {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return nil, err
	}
	at, err := s.logServer(now.Cluster.Shards[s.Shard], e.Server)
	if err != nil {
		return nil, err
	}
	saving := changes.Saving{
		Server: at,
		Flavor: link.MySQL, From: e.primary,
		Wanted: e.has, Complete: e.complete,
	}
	if e.MariaDB {
		saving.Flavor, saving.From = link.MariaDB, behind(e.GTIDs, e.primary)
	}
	return changes.Save(ctx, saving, w)
}

// has reports whether a transaction is errant.
func (e Errant) has(gtid string) bool {
	known, err := Missing(e.MariaDB, gtid, e.primary)
	if err != nil || known == "" {
		return err != nil
	}
	other, err := Missing(e.MariaDB, gtid, e.GTIDs)
	return err != nil || other == ""
}

// complete reports whether saved and Unapplied together contain all errant transactions.
func (e Errant) complete(saved []changes.Saved) bool {
	have := e.Unapplied
	for _, one := range saved {
		have = union(e.MariaDB, have, one.GTID)
	}
	missing, err := Missing(e.MariaDB, e.GTIDs, have)
	return err == nil && missing == ""
}

// behind returns the GTID position from which a MariaDB log is read. For each domain, that is the last
// transaction that the primary has of an origin whose later ones it lacks. A domain with an origin that the
// primary does not know is read from its beginning.
func behind(errant, primary string) string {
	known := map[string]uint64{}
	for _, g := range strings.Split(primary, ",") {
		if origin, n, ok := splitGTID(g); ok {
			known[origin] = n
		}
	}
	from, whole := map[string]string{}, map[string]bool{}
	least := map[string]uint64{}
	for _, g := range strings.Split(errant, ",") {
		origin, _, ok := splitGTID(g)
		if !ok {
			continue
		}
		domain, _, _ := strings.Cut(origin, "-")
		n, there := known[origin]
		if whole[domain] = whole[domain] || !there; there && (least[domain] == 0 || n < least[domain]) {
			least[domain], from[domain] = n, fmt.Sprintf("%s-%d", origin, n)
		}
	}
	var list []string
	for domain, g := range from {
		if !whole[domain] {
			list = append(list, g)
		}
	}
	return strings.Join(list, ",")
}

// ErrEnded reports that a rebuilt server has shut down, and no service manager starts it again.
var ErrEnded = errors.New("it is rebuilt, and has stopped: start it")

// Rebuild replaces all data of a MySQL server by a copy of the primary, using the clone plug-in. The copy runs
// without the shard's lease, so the shard can fail over during it. Afterwards a service manager must start the
// server again. If none does, the error is ErrEnded.
func (s Switchover) Rebuild(ctx context.Context, e Errant) error {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return err
	}
	if now.Server != e.Primary || !now.Settled() && now.Former != e.Server {
		return &Refused{[]string{"the primary is being changed: try again"}}
	}
	source, err := s.once(ctx, now, e.Primary)
	if err != nil {
		return err
	}
	defer source.close(context.WithoutCancel(ctx))
	server, err := s.once(ctx, now, e.Server)
	if err != nil {
		return err
	}
	defer server.close(context.WithoutCancel(ctx))
	if err := clones(ctx, source, server); err != nil {
		return err
	}
	if got, err := server.one(ctx, "SELECT GET_LOCK("+rebuilding+", 0)"); err != nil || got != "1" {
		return errors.Join(err, &Refused{[]string{fmt.Sprintf("%s is being rebuilt by another process", e.Server)}})
	}
	host, port, err := net.SplitHostPort(source.addr)
	if err != nil {
		return err
	}
	password, err := source.account.password()
	if err != nil {
		return err
	}
	up, err := server.started(ctx)
	if err != nil {
		return err
	}
	how := ""
	if !source.account.tls {
		how = " REQUIRE NO SSL"
	}
	// The server keeps the GTIDs of its errant transactions until its rows are replaced. So an interrupted
	// clone is never mistaken for a copy of the primary.
	if err := server.exec(ctx, "STOP REPLICA", "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = ON", "SET GLOBAL clone_valid_donor_list = "+text(source.addr)); err != nil {
		return err
	}
	clone := fmt.Sprintf("CLONE INSTANCE FROM %s@%s:%s IDENTIFIED BY %s%s", text(source.account.user), text(host), port, text(password), how)
	for range cloneTries {
		if err = server.exec(ctx, clone); code(err) != donorFailed || ctx.Err() != nil {
			break
		}
	}
	switch {
	case code(err) == unmanaged:
		return ErrEnded
	case lost(err): // the server shuts down as soon as it has everything, perhaps before it answers
		return s.afterwards(ctx, now, e.Server, up, err)
	case err != nil: // the server is unchanged, unless the clone ran for long
		return errors.Join(err, server.setReadOnly(context.WithoutCancel(ctx), true))
	}
	return nil
}

func lost(err error) bool {
	_, is := errors.AsType[*backend.LostError](err)
	return is
}

// afterwards checks a server whose clone statement lost its connection. If the server has no errant
// transactions left, it is a copy of the primary. An interrupted clone keeps the server's GTID set, and perhaps
// no rows.
func (s Switchover) afterwards(ctx context.Context, now declared.Primary, addr string, up time.Time, why error) error {
	deadline := time.After(endTime)
	ticks := time.NewTicker(endTime / 100)
	defer ticks.Stop()
	away := 0
	for {
		server, err := s.once(ctx, now, addr)
		if err == nil {
			away = 0
			again, err := server.started(ctx)
			server.close(context.WithoutCancel(ctx))
			if err == nil && again.Sub(up) > clockwork { // a server that shuts down may return misleading errors
				if left, err := s.Errant(ctx); err == nil && left.GTIDs == "" {
					return nil
				}
			}
		} else if code(err) == 0 { // a load balancer in front of it may answer in its place
			if away++; away >= unstarted {
				return fmt.Errorf("%w; if it was not complete, locus doctor lists the transactions that only this server has again", ErrEnded)
			}
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return errors.Join(why, ctx.Err())
		case <-deadline:
			return errors.Join(why, fmt.Errorf("it is unknown whether %s was cloned: if it still has transactions of its own (locus rejoin lists them), repeat the command", addr))
		}
	}
}

// started returns the start time of a server by this process's clock, accurate to about a second.
func (s *server) started(ctx context.Context) (time.Time, error) {
	rows, err := s.rows(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'")
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%s does not report its uptime", s.addr)
	}
	seconds, err := strconv.Atoi(rows[0]["value"])
	return time.Now().Add(-time.Duration(seconds) * time.Second), err
}

const (
	// clockwork is the greatest difference between two results of started for the same run of a server.
	clockwork = 3 * time.Second
	// endTime bounds the time that a cloned server takes to shut down, or to be up again.
	endTime = 30 * time.Second
	// unstarted is the number of failed polls in sequence after which no service manager seems to start the
	// server: 5 s.
	unstarted = 17
	// donorFailed is the error code of a server whose donor has aborted a clone, for example after a brief
	// connection loss (ER_CLONE_DONOR). The server's own data may be gone already, so the clone is repeated.
	donorFailed = 3862
	cloneTries  = 3
)

// rebuilding names the lock that a rebuild holds on the server that it rebuilds. Role changes don't kill the
// connection with this lock. They also don't make the server a replica meanwhile, because it temporarily has no
// GTIDs. rebuilder is the ID of that connection, or NULL.
const (
	rebuilding = "'locus_rebuild'"
	rebuilder  = "IS_USED_LOCK(" + rebuilding + ")"
)

// unmanaged is the error code of a cloned server that can't restart itself.
const unmanaged = 3707

// clones returns an error if one of the servers lacks the clone plug-in.
func clones(ctx context.Context, all ...*server) error {
	var problems []string
	for _, s := range all {
		if s.mariadb {
			return &Refused{[]string{"MariaDB has no clone plug-in: rebuild it by mariadb-backup, as the list says"}}
		}
		n, err := s.one(ctx, "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME = 'clone' AND PLUGIN_STATUS = 'ACTIVE'")
		if err != nil {
			return err
		}
		if n != "1" {
			problems = append(problems, s.addr+" has no clone plug-in: INSTALL PLUGIN clone SONAME 'mysql_clone.so' there")
		}
	}
	if len(problems) > 0 {
		return &Refused{problems}
	}
	return nil
}

// Origins returns the last transactions of a MariaDB server's former primaries, each followed by a comma. A
// copy of the primary has these transactions too, but its GTID position contains only the last one of all.
func (e Errant) Origins() string {
	var last uint64
	for _, g := range strings.Split(e.primary, ",") {
		if _, n, ok := splitGTID(g); ok {
			last = max(last, n)
		}
	}
	var b strings.Builder
	for _, g := range strings.Split(e.primary, ",") {
		if _, n, ok := splitGTID(g); ok && n != last {
			b.WriteString(strings.TrimSpace(g) + ",")
		}
	}
	return b.String()
}
