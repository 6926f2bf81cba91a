package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/config"
	"locus/control/finding"
	"locus/migrate/audit"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
)

// shard is a connection to a shard that answers.
type shard struct {
	*link.Conn
	name    router.ShardName
	account string
}

// shards checks all shards concurrently, and then compares them.
func (e *examination) shards(ctx context.Context) {
	open := make([]*shard, len(e.Cluster.Shards))
	var looking sync.WaitGroup
	for i, name := range e.Cluster.ShardNames() {
		looking.Go(func() {
			if s := e.reach(ctx, name); s != nil && e.shard(ctx, s) {
				open[i] = s
			} else if s != nil {
				_ = s.Close()
			}
		})
	}
	looking.Wait()
	e.withoutSecrets()
	e.kinds(open)
	e.tables(ctx, open)
	for _, s := range open {
		if s != nil {
			_ = s.Close()
		}
	}
}

// reach logs in to a shard.
func (e *examination) reach(ctx context.Context, name router.ShardName) *shard {
	declared := e.Cluster.Shards[name]
	if declared.Unreadable != "" { // reported as a document that can't be read
		return nil
	}
	server, err := e.Jobs.Shard(ctx, name)
	if missing, is := errors.AsType[*config.MissingSecret](err); is {
		e.lacks(name, missing)
		return nil
	}
	if err != nil {
		e.symptom(finding.AtRisk, name, "logins", string(name), "correct it, or name the right configuration: -c locus.yaml, or LOCUS_CONFIG", "%v", err)
		return nil
	}
	c, err := link.Dial(ctx, server)
	if err != nil {
		remedy := fmt.Sprintf("start the server, or correct address: %s in cluster.yaml (locus apply)", declared.Address)
		if _, refused := errors.AsType[*mysql.MyError](err); refused {
			remedy = fmt.Sprintf("ALTER USER '%s'@'%%' IDENTIFIED BY '…' as in the secret %s, or correct the shard in cluster.yaml (locus apply)", declared.User, declared.Secret)
		}
		e.symptom(finding.AtRisk, name, "logins", string(name), remedy, "%v", err)
		return nil
	}
	return &shard{Conn: c, name: name, account: declared.User}
}

// lacks notes that the configuration of this command has no password for a shard.
func (e *examination) lacks(name router.ShardName, missing *config.MissingSecret) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lacking == nil {
		e.lacking = map[router.ShardName]*config.MissingSecret{}
	}
	e.lacking[name] = missing
}

// withoutSecrets reports the shards without a password. That is one finding, which concerns the configuration of this command and not the
// shards: the proxies may well reach them.
func (e *examination) withoutSecrets() {
	names := slices.Sorted(maps.Keys(e.lacking))
	if len(names) == 0 {
		return
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = string(name)
	}
	e.find(finding.AtRisk, "secrets", "this configuration", "name the configuration of a process: -c locus.yaml, or export LOCUS_CONFIG=locus.yaml; or put the secret there",
		"shards that were not checked, since their passwords are not found: %s; %v", strings.Join(list, ", "), e.lacking[names[0]])
}

// check is a check of one shard.
type check struct {
	name string
	look func(*examination, context.Context, *shard) error
}

var checks = []check{
	{"clocks", (*examination).shardClock},
	{"settings", (*examination).preflight},
	{"durability", (*examination).durability},
	{"disk", (*examination).disk},
	{"disk", (*examination).hollow},
	{"connections", (*examination).connections},
	{"privileges", (*examination).twoPhases},
	{"branches", (*examination).inDoubt},
	{"leftovers", (*examination).leftovers},
}

// shardPatience is the time limit for each check of a shard. Some read the metadata of all tables.
const shardPatience = 15 * time.Second

// shard runs the checks of a shard, and reports whether all were run. It stops at the first one that takes too
// long: a MariaDB whose commits wait for a replica answers some queries only after the acknowledgement.
func (e *examination) shard(ctx context.Context, s *shard) bool {
	for _, c := range checks {
		limited, cancel := context.WithTimeout(ctx, shardPatience)
		err := c.look(e, limited, s)
		late := limited.Err() != nil
		cancel()
		switch {
		case err == nil:
		case late:
			e.symptom(finding.AtRisk, s.name, c.name, string(s.name), "check whether its writes wait for a replica (primaries), and check its load",
				"it did not answer for %v, and the rest of the shard was not checked: %v", shardPatience, err)
			return false
		default:
			e.symptom(finding.AtRisk, s.name, c.name, string(s.name), "see the reason", "it can't be checked: %v", err)
		}
	}
	return true
}

func (e *examination) shardClock(ctx context.Context, s *shard) error {
	asked := e.Now()
	text, err := s.one(ctx, "SELECT UNIX_TIMESTAMP(SYSDATE(6))")
	if err != nil {
		return err
	}
	answered := e.Now()
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	e.clock("shard "+string(s.name), reading{time.UnixMicro(int64(seconds * 1e6)), asked, answered, 0})
	return nil
}

// one returns the only value of a query's result.
func (s *shard) one(ctx context.Context, sql string) (string, error) {
	rows, err := s.Query(ctx, sql)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return "", fmt.Errorf("%s: the server has answered without a row", sql)
	}
	return string(rows[0][0]), nil
}

// preflight reports obstacles to a move from the shard or to it, and the lack of the privilege that gathered
// reads need.
func (e *examination) preflight(ctx context.Context, s *shard) error {
	here := map[catalog.TableName]catalog.Declaration{}
	for name, d := range e.Cluster.Tables {
		if d.Kind != catalog.Single || d.Shard == s.name {
			here[name] = d
		}
	}
	problems, err := preflight.LookAtServer(ctx, s.Conn, here, preflight.Need{Privilege: "CREATE TEMPORARY TABLES", For: "gathering"})
	mended := map[string]bool{} // one GRANT gives the privileges on all tables of a schema
	for _, p := range problems {
		if !mended[p.Remedy] {
			e.find(gravity(p.Check), p.Check, string(s.name), p.Remedy, "%s", p.What)
		}
		mended[p.Remedy] = true
	}
	return err
}

// gravity returns the severity of an obstacle to a move. Lacking privileges and read-only servers concern
// statements, too. The other obstacles concern only moves.
func gravity(check string) finding.Severity {
	if check == "privileges" || check == "read only" {
		return finding.AtRisk
	}
	return finding.Advice
}

// durability checks the settings by which commits survive a power failure. A job copies changes that it reads from the log,
// and other shards may have acted on the decision of a two-phase commit, so a server must lose neither.
func (e *examination) durability(ctx context.Context, s *shard) error {
	var lax, remedy []string
	for _, variable := range []string{"innodb_flush_log_at_trx_commit", "sync_binlog"} {
		value, err := s.one(ctx, "SELECT @@GLOBAL."+variable)
		if err != nil {
			return err
		}
		if value != "1" && (value != "3" || variable == "sync_binlog") { // 3 flushes at commit as well
			lax = append(lax, variable+" = "+value)
			remedy = append(remedy, "SET GLOBAL "+variable+" = 1")
		}
	}
	if lax != nil {
		e.find(finding.AtRisk, "durability", string(s.name), strings.Join(remedy, "; ")+"; in the configuration too",
			"a power cut can lose committed transactions, on the server or from its log: %s", strings.Join(lax, ", "))
	}
	return nil
}

// spare is the number of connections for jobs and operators, in addition to the connections of the proxies.
const spare = 10

// connections checks that the server accepts as many connections as the proxies may open.
func (e *examination) connections(ctx context.Context, s *shard) error {
	text, err := s.one(ctx, "SELECT @@GLOBAL.max_connections")
	if err != nil {
		return err
	}
	most, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	each := e.Cluster.Shards[s.name].MaxConnections
	if each == 0 {
		each = e.MaxConnections
	}
	proxies := max(1, len(e.cards))
	if need := proxies*each + spare; need > most {
		e.find(finding.AtRisk, "connections", string(s.name),
			fmt.Sprintf("SET GLOBAL max_connections = %d, in the configuration too; or max_connections: %d below the shard in cluster.yaml", need, max(1, (most-spare)/proxies)),
			"the server allows %d connections, but %d proxies with up to %d each and %d others may need %d", most, proxies, each, spare, need)
	}
	return nil
}

// twoPhases checks the privileges and the table that transactions over several shards need.
func (e *examination) twoPhases(ctx context.Context, s *shard) error {
	if !e.XA {
		return nil
	}
	account, err := s.one(ctx, "SELECT CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')")
	if err != nil {
		return err
	}
	if _, err = s.Query(ctx, "XA RECOVER"); link.Code(err) != 0 {
		e.find(finding.Outage, "privileges", string(s.name), "GRANT XA_RECOVER_ADMIN ON *.* TO "+account, "transactions can't span it: prepared branches can't be listed: %s", link.Reason(err))
		return nil
	}
	if err != nil || len(e.cards) == 0 { // without a proxy the table may be missing: the first proxy creates it
		return err
	}
	switch _, err = s.Query(ctx, "SELECT 1 FROM locus.decision LIMIT 0"); link.Code(err) {
	case 0:
		return err
	case mysql.ER_NO_SUCH_TABLE, mysql.ER_BAD_DB_ERROR:
		severity := finding.Outage
		if routes := e.Cluster.Routes; s.name != e.Cluster.Settings.DefaultShard && routes != nil && routes.GenesOf(s.name).Empty() {
			severity = finding.Advice // it was added a moment ago, or can't get genes yet
		}
		e.find(severity, "privileges", string(s.name), "GRANT CREATE ON locus.* TO "+account+", and the proxies make it", "transactions can't span it: the table locus.decision is missing")
	default:
		e.find(finding.Outage, "privileges", string(s.name), "GRANT SELECT, INSERT, UPDATE, DELETE ON locus.decision TO "+account, "transactions can't span it: %s", link.Reason(err))
	}
	return nil
}

// kinds checks that all servers are MariaDB, or all MySQL, and in supported versions.
func (e *examination) kinds(open []*shard) {
	var first *shard
	for _, s := range open {
		switch {
		case s == nil:
		case first == nil:
			first = s
		case s.Version().Flavor != first.Version().Flavor:
			e.find(finding.AtRisk, "versions", string(s.name), "servers of one kind for all shards", "it is %s, and %s is %s: rows can't be moved between them, and definitions can't be the same", s.Version(), first.name, first.Version())
		}
		if s != nil && tooOld(s.Version()) {
			e.find(finding.Advice, "versions", string(s.name), "upgrade it to MariaDB 10.11 or MySQL 9.7, which locus is tested with", "it is %s", s.Version())
		}
	}
}

func tooOld(v link.Version) bool {
	if v.Flavor == link.MariaDB {
		return !v.AtLeast(10, 6, 0)
	}
	return !v.AtLeast(8, 0, 0)
}

// tables compares the tables on the shards with their declarations and with each other.
func (e *examination) tables(ctx context.Context, open []*shard) {
	queriers := map[router.ShardName]schema.Querier{}
	for _, s := range open {
		if s != nil && s.Broken() == nil {
			queriers[s.name] = s
		}
	}
	if len(queriers) == 0 {
		return // reach has reported each of them
	}
	loaded, err := schema.Load(ctx, queriers, e.Cluster)
	if err != nil {
		e.find(finding.AtRisk, "schemas", "shards", "see the reason", "they can't be compared: %v", err)
		return
	}
	for severity, errs := range map[finding.Severity][]error{
		finding.Advice: loaded.Warnings,
		finding.AtRisk: append(schema.Stores(ctx, queriers, e.Cluster), loaded.Unseen),
		finding.Outage: {loaded.Problems()},
	} {
		for line := range strings.Lines(lines(errs)) {
			e.add(OfTable(severity, strings.TrimSpace(line)))
		}
	}
	for _, t := range loaded.Catalog.Tables() {
		for _, s := range open {
			if t.Kind == catalog.Sharded && s != nil && s.Broken() == nil {
				e.rows(ctx, s, t)
			}
		}
	}
}

// sampled is the number of rows that are checked at each end of a table.
const sampled = 500

// rows checks for some rows of a sharded table that they are on the shard of their owner.
func (e *examination) rows(ctx context.Context, s *shard, t *catalog.Table) {
	where := fmt.Sprintf("table %s on %s", t.TableName, s.name)
	some := audit.Rows{Conn: s.Conn, Table: t, Shard: s.name, Most: sampled}
	if walk, err := table.Read(ctx, s.Conn, t.TableName, t.Declaration, t.Width); err == nil {
		some.Walk = walk
	}
	seen, err := some.Look(ctx)
	if err != nil {
		e.symptom(finding.AtRisk, s.name, "rows", where, "see the reason", "they can't be checked: %v", err)
		return
	}
	routes := e.Cluster.Routes
	if seen.Has(audit.Foreign(routes, s.name)) { // check again with the current map, because genes may have moved since
		if routes, err = e.Jobs.Map(ctx); err != nil {
			e.symptom(finding.AtRisk, s.name, "rows", where, "see the reason", "they can't be checked: %v", err)
			return
		}
	}
	if n, what := seen.Wrong(audit.Foreign(routes, s.name)); n > 0 {
		e.find(finding.Outage, "rows", where, "locus verify checks all of them; insert these again through a proxy, and delete them on the shard", "it has %s", what)
	}
}

// lines joins errors. The text has one line for each problem.
func lines(errs []error) string {
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return ""
}

// OfTable returns the finding for a line of the form "table NAME: problem: remedy", or of the same form for a generator.
func OfTable(severity finding.Severity, line string) finding.Finding {
	where, what, _ := strings.Cut(line, ": ")
	remedy := "make it what is declared, on every shard: locus diff, SHOW CREATE TABLE"
	if at := strings.LastIndex(what, ": "); at >= 0 {
		what, remedy = what[:at], what[at+2:]
	}
	return finding.New(severity, "schemas", where, remedy, "%s", what)
}
