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

// Errant is what a server has that the primary of its shard never had.
type Errant struct {
	Server, Primary string
	MariaDB         bool
	// Promotes: locus promotes servers of the shard, and has them follow by itself.
	Promotes bool
	// GTIDs are the transactions; empty: there are none, and it can follow.
	GTIDs string
	// Unapplied: they are in its relay log in part, and not in its own log.
	Unapplied string

	primary string // all that the primary has
}

// Errant looks at both. It changes nothing, and needs no lease.
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
	server, err := s.lookOnce(ctx, now, s.To) // before the primary, which only gets more
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

// Save writes its transactions, as far as they are in its log, as a file that mysqlbinlog and mariadb-binlog read.
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

// has tells whether a transaction is one of them.
func (e Errant) has(gtid string) bool {
	known, err := Missing(e.MariaDB, gtid, e.primary)
	if err != nil || known == "" {
		return err != nil
	}
	other, err := Missing(e.MariaDB, gtid, e.GTIDs)
	return err != nil || other == ""
}

// complete tells whether these are all that it has in its log.
func (e Errant) complete(saved []changes.Saved) bool {
	have := e.Unapplied
	for _, one := range saved {
		have = union(e.MariaDB, have, one.GTID)
	}
	missing, err := Missing(e.MariaDB, e.GTIDs, have)
	return err == nil && missing == ""
}

// behind returns the GTID position from which a MariaDB log is read: for each domain the last transaction that the primary has of an
// origin whose later ones it lacks. A domain with an origin that the primary knows nothing of is read from its beginning.
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

// ErrEnded says that a server was rebuilt, and has ended: nothing starts it again by itself.
var ErrEnded = errors.New("it is rebuilt, and has stopped: start it")

// Rebuild makes a MySQL server anew from the primary, by the clone plug-in: all that it has is lost. What takes its time is done
// without the lease of the shard, which may fail over meanwhile. Then the server is started again by whoever starts it;
// if nobody does, the error is ErrEnded.
func (s Switchover) Rebuild(ctx context.Context, e Errant) error {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return err
	}
	if now.Server != e.Primary || !now.Settled() && now.Former != e.Server {
		return &Refused{[]string{"the primary changes just now: try again"}}
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
		return errors.Join(err, &Refused{[]string{fmt.Sprintf("%s is being made anew by somebody else", e.Server)}})
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
	// What it has received of its own stays known until its rows are replaced: one whose clone is broken off is never taken for the primary's copy.
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
	case lost(err): // it ends as soon as it has all, and may not come to say so
		return s.afterwards(ctx, now, e.Server, up, err)
	case err != nil: // it is as it was, unless it was under way for long
		return errors.Join(err, server.setReadOnly(context.WithoutCancel(ctx), true))
	}
	return nil
}

func lost(err error) bool {
	_, is := errors.AsType[*backend.LostError](err)
	return is
}

// afterwards looks how a server is that was being cloned and has ended the connection. It is the primary's copy if it has nothing of its own
// any more: a clone that was broken off leaves all that it knows of its transactions, and perhaps no rows.
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
			if err == nil && again.Sub(up) > clockwork { // one that is about to end says all kinds of things
				if left, err := s.Errant(ctx); err == nil && left.GTIDs == "" {
					return nil
				}
			}
		} else if code(err) == 0 { // whatever stands before it may answer in its place
			if away++; away >= unstarted {
				return fmt.Errorf("%w; if it had not come to its end, locus doctor lists what it has of its own again", ErrEnded)
			}
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return errors.Join(why, ctx.Err())
		case <-deadline:
			return errors.Join(why, fmt.Errorf("whether %s is cloned is not known: if it has transactions of its own still (locus rejoin lists them), do the same again", addr))
		}
	}
}

// started is since when a server runs, by this process's clock, to a second or so.
func (s *server) started(ctx context.Context) (time.Time, error) {
	rows, err := s.rows(ctx, "SHOW GLOBAL STATUS LIKE 'Uptime'")
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("%s does not say for how long it has been running", s.addr)
	}
	seconds, err := strconv.Atoi(rows[0]["value"])
	return time.Now().Add(-time.Duration(seconds) * time.Second), err
}

const (
	// clockwork is by how much two answers of started may differ of the same run.
	clockwork = 3 * time.Second
	// endTime bounds how long a server takes to end, or to be there again, once it is cloned.
	endTime = 30 * time.Second
	// unstarted is how many looks in turn don't reach it before nothing seems to start it: 5 s.
	unstarted = 17
	// donorFailed is what a server says whose donor has given a clone up, as after the connection between them was lost for a moment
	// (ER_CLONE_DONOR). It takes the data anew then: what it had may be gone already.
	donorFailed = 3862
	cloneTries  = 3
)

// rebuilding names the lock that a rebuild holds on the server it rebuilds. Role changes keep that connection, and don't have the server
// follow meanwhile: it has no GTIDs for a while. rebuilder is the connection's number, or NULL.
const (
	rebuilding = "'locus_rebuild'"
	rebuilder  = "IS_USED_LOCK(" + rebuilding + ")"
)

// unmanaged is what a server says that was cloned and can't start itself again.
const unmanaged = 3707

// clones tells whether both servers can.
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

// Origins are the last transactions of former primaries of a MariaDB, each followed by a comma: a copy of the primary has them too,
// and knows only the last one of all.
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
