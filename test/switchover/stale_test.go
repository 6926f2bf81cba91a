package switchover

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
)

// TestStaleReads cuts a proxy off from etcd, and lets another server of its shard become the primary meanwhile. Without stale_reads it
// refuses everything on the shard. With it, plain reads are answered from the former primary and marked, and everything else is refused.
func TestStaleReads(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := start(t, engine)
		if _, err := s.to(0).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, at := range []int{0, 2} {
			s.servers[at].Exec(t, "CREATE TABLE "+schema+".region (id INT PRIMARY KEY)", "INSERT INTO "+schema+".region VALUES (1)")
		}
		s.more = "  " + schema + ".region: {kind: global}\n"
		s.declare(t, "follow")
		s.lookAfter(t)
		db := s.db(t, 0, "app")
		execute(t, db, "INSERT INTO setting VALUES ('limit', 1)",
			"CREATE VIEW counters AS SELECT uid, n FROM counter", "INSERT INTO counter (uid, n) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1)")
		etcd := s.serveApart(t)
		v := &stale{stand: s, t: t, uid: map[bool]string{}}
		v.sort()

		etcd.Swallow()
		v.refused("SELECT n FROM counter WHERE uid = "+v.uid[true], "cut off from etcd", "its lease ended at")
		v.fresh("SELECT n FROM counter WHERE uid = "+v.uid[false], "1")
		etcd.Deliver()
		servers.Eventually(t, "etcd confirms the primary", func() error { return v.is("SELECT n FROM counter WHERE uid = "+v.uid[true], "1", 0) })

		s.declare(t, "follow, stale_reads: true")
		servers.Eventually(t, "the proxy knows the option", func() error {
			for _, p := range s.last().Status().Pools {
				if p.StaleAllowed {
					return nil
				}
			}
			return errors.New("it does not")
		})
		v.fresh("SELECT n FROM counter WHERE uid = "+v.uid[true], "1")
		wrote := v.connect()
		v.must(wrote, "UPDATE counter SET n = 2 WHERE uid = "+v.uid[true])
		etcd.Swallow()
		servers.Eventually(t, "etcd does not confirm the primary", func() error { return v.is("SELECT n FROM counter WHERE uid = "+v.uid[true], "2", 1) })
		v.answersOf(wrote)
		v.reads()
		v.refuses()
		v.status()

		s.readOnly(t, 0, true)
		s.promote(t, 0, 1)
		s.wantNamed(t, 1)
		execute(t, db, "UPDATE counter SET n = 7 WHERE uid = "+v.uid[true])
		v.marked("SELECT n FROM counter WHERE uid = "+v.uid[true], "2", 1)
		v.marked("SELECT MAX(n) FROM counter", "2", 1)
		etcd.Deliver()
		servers.Eventually(t, "etcd confirms the primary", func() error { return v.is("SELECT n FROM counter WHERE uid = "+v.uid[true], "7", 0) })
		v.fresh("SELECT MAX(n) FROM counter", "7")
		execute(t, s.db(t, 2, "app"), "UPDATE counter SET n = 8 WHERE uid = "+v.uid[true])
		if n := s.last().Status().Pools["s0"].StaleReads; n == 0 {
			t.Error("no stale read was counted")
		}
	})
}

// stale is a proxy that is cut off.
type stale struct {
	*stand
	t   *testing.T
	uid map[bool]string // an owner on s0: true, and on s1
}

// sort finds an owner on each shard.
func (v *stale) sort() {
	at := v.servers[0].DB(v.t, schema)
	defer at.Close()
	for uid := 1; uid <= 8; uid++ {
		n := 0
		if err := at.QueryRow("SELECT COUNT(*) FROM counter WHERE uid = ?", uid).Scan(&n); err != nil {
			v.t.Fatal(err)
		}
		v.uid[n > 0] = fmt.Sprint(uid)
	}
	if len(v.uid) != 2 {
		v.t.Fatalf("%v", v.uid)
	}
}

// logIn logs in as a client that reads the number of warnings: with CLIENT_DEPRECATE_EOF, this one does not.
func (v *stale) logIn() (*client.Conn, error) {
	return client.Connect(v.proxies[2].Addr, "app", servers.Password, schema, func(c *client.Conn) error {
		c.UnsetCapability(mysql.CLIENT_DEPRECATE_EOF)
		return nil
	})
}

// connect logs in to the proxy that is cut off.
func (v *stale) connect() *client.Conn {
	v.t.Helper()
	c, err := v.logIn()
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (v *stale) must(c *client.Conn, text string) *mysql.Result {
	v.t.Helper()
	r, err := c.Execute(text)
	if err != nil {
		v.t.Fatalf("%s: %v", text, err)
	}
	return r
}

// is runs a query in a new session, and compares its one value and the number of its warnings. Each of them must be the mark.
func (v *stale) is(text, want string, warnings int) error {
	c, err := v.logIn()
	if err != nil {
		return err
	}
	defer c.Close()
	return v.isOn(c, text, want, warnings)
}

func (v *stale) isOn(c *client.Conn, text, want string, warnings int, args ...any) error {
	r, err := c.Execute(text, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	got, err := r.GetString(0, 0)
	if err != nil || want != "" && got != want || int(r.Warnings) != warnings {
		return fmt.Errorf("%s: %q with %d warnings, want %q with %d: %w", text, got, r.Warnings, want, warnings, err)
	}
	if len(args) > 0 {
		return nil
	}
	shown, err := c.Execute("SHOW WARNINGS")
	if err != nil || shown.RowNumber() != warnings {
		return fmt.Errorf("%s: %d warnings are shown, want %d: %w", text, shown.RowNumber(), warnings, err)
	}
	for i := range warnings {
		level, _ := shown.GetString(i, 0)
		code, _ := shown.GetString(i, 1)
		message, _ := shown.GetString(i, 2)
		if level != "Warning" || code != "1105" || !strings.HasPrefix(message, "locus-1401: the rows of shard s0 may be stale") || !strings.Contains(message, v.servers[0].Addr()) {
			return fmt.Errorf("%s: the warning is %s %s %s", text, level, code, message)
		}
	}
	return nil
}

func (v *stale) marked(text, want string, warnings int) {
	v.t.Helper()
	if err := v.is(text, want, warnings); err != nil {
		v.t.Error(err)
	}
}

// fresh runs a query that must not be marked.
func (v *stale) fresh(text, want string) {
	v.t.Helper()
	v.marked(text, want, 0)
}

// answersOf reads in a session that has written before. It must see its own write.
func (v *stale) answersOf(c *client.Conn) {
	v.t.Helper()
	if err := v.isOn(c, "SELECT n FROM counter WHERE uid = "+v.uid[true], "2", 1); err != nil {
		v.t.Error(err)
	}
	if _, err := c.Execute("UPDATE counter SET n = 3 WHERE uid = " + v.uid[true]); err == nil {
		v.t.Error("a write was not refused")
	}
	if err := v.isOn(c, "SELECT n FROM counter WHERE uid = "+v.uid[true], "2", 1); err != nil {
		v.t.Error(err)
	}
}

// reads runs every kind of plain read.
func (v *stale) reads() {
	own, other := v.uid[true], v.uid[false]
	for _, c := range []struct {
		text, want string
		warnings   int
	}{
		{"SELECT n FROM counter WHERE uid = " + own, "2", 1},
		{"/* app */ (SELECT n FROM counter WHERE uid = " + own + ")", "2", 1},
		{"SELECT n FROM counters WHERE uid = " + own, "2", 1},
		{"SELECT SUM(n) FROM counter", "9", 1},
		{"SELECT uid FROM counter ORDER BY n DESC, uid LIMIT 1", own, 1},
		{"SELECT n, COUNT(*) FROM counter GROUP BY n ORDER BY n", "1", 1},
		{"SELECT COUNT(*) FROM counter a JOIN counter b ON a.n = b.n", "50", 1}, // gathered
		{"SELECT n FROM counter WHERE uid = (SELECT MAX(uid) FROM counter WHERE n = 2)", "2", 1},
		{"SELECT COUNT(*) FROM counter a JOIN setting s ON a.n = s.value", "7", 1},
		{"SELECT value FROM setting", "1", 1},
		{"SELECT n FROM counter WHERE uid = " + other, "1", 0},
		{"SELECT id FROM region", "1", 0}, // s1 has the same rows, and etcd need not confirm it
		{"SELECT 1", "1", 0},
		{"SELECT DATABASE()", schema, 0},
		{"SELECT @@autocommit", "1", 0},
		{"SELECT COUNT(*) FROM counter WHERE uid IN (" + own + ", " + other + ")", "2", 1},
		{"SELECT n FROM counter WHERE uid = " + own + " UNION SELECT value FROM setting ORDER BY 1 DESC", "2", 1},
	} {
		v.marked(c.text, c.want, c.warnings)
	}
	c := v.connect()
	for range 2 {
		if err := v.isOn(c, "SELECT n FROM counter WHERE uid = ?", "2", 1, own); err != nil {
			v.t.Errorf("prepared: %v", err)
		}
		if err := v.isOn(c, "SELECT SUM(n) FROM counter WHERE uid > ?", "9", 1, 0); err != nil {
			v.t.Errorf("prepared: %v", err)
		}
	}
	v.must(c, "PREPARE p FROM 'SELECT n FROM counter WHERE uid = "+own+"'")
	if err := v.isOn(c, "EXECUTE p", "2", 1); err != nil {
		v.t.Error(err)
	}
	v.must(c, "SET NAMES latin1")
	v.must(c, "SET @x = 5, sql_mode = ''")
	v.must(c, "USE "+schema)
	if err := v.isOn(c, "SELECT n FROM counter WHERE uid = "+own, "2", 1); err != nil {
		v.t.Error(err)
	}
	if err := v.isOn(c, "SELECT 'a' + n FROM counter WHERE uid = "+own, "2", 2); err == nil || !strings.Contains(err.Error(), "1292") {
		v.t.Errorf("with a warning of the server's: %v", err) // isOn counts a warning of the server's as one that is not the mark
	}
}

// refuses runs statements that must be refused on the shard that is cut off. The error names the option and its limits.
func (v *stale) refuses() {
	own := v.uid[true]
	var all sync.WaitGroup
	for _, text := range []string{
		"INSERT INTO counter (uid, n) VALUES (" + own + ", 5) ON DUPLICATE KEY UPDATE n = 5", "UPDATE counter SET n = 5 WHERE uid = " + own, "DELETE FROM counter WHERE uid = " + own,
		"REPLACE INTO setting VALUES ('limit', 5)", "INSERT INTO region VALUES (5)",
		"SELECT n FROM counter WHERE uid = " + own + " FOR UPDATE", "SELECT n FROM counter WHERE uid = " + own + " LOCK IN SHARE MODE", "SELECT SUM(n) FROM counter FOR UPDATE",
		"BEGIN; SELECT n FROM counter WHERE uid = " + own, "START TRANSACTION READ ONLY; SELECT n FROM counter WHERE uid = " + own, "SET autocommit = 0; SELECT n FROM counter WHERE uid = " + own,
		"BEGIN; SELECT SUM(n) FROM counter", "SELECT n INTO @x FROM counter WHERE uid = " + own, "SELECT @x := n FROM counter WHERE uid = " + own,
		"SELECT nothing(n) FROM setting", "SELECT GET_LOCK('a', 0), value FROM setting", "LOCK TABLES setting READ", "CREATE TEMPORARY TABLE made (id INT)",
		"CREATE TABLE made (id INT)", "TRUNCATE setting", "INSERT INTO setting SELECT 'x', n FROM counter WHERE uid = " + own, "HANDLER setting OPEN",
	} {
		all.Go(func() {
			c, err := v.logIn()
			if err != nil {
				v.t.Error(err)
				return
			}
			defer c.Close()
			for one := range strings.SplitSeq(text, "; ") {
				_, err = c.Execute(one)
			}
			if err == nil || !strings.Contains(err.Error(), "1158") || !strings.Contains(err.Error(), "with stale_reads, a plain SELECT outside of a transaction goes on, and nothing else") {
				v.t.Errorf("%s: %v", text, err)
			}
		})
	}
	all.Wait()
}

// refused runs a statement that must be refused.
func (v *stale) refused(text string, says ...string) {
	v.t.Helper()
	servers.Eventually(v.t, text+" is refused", func() error {
		err := v.is(text, "", 0)
		for _, word := range says {
			if err == nil || !strings.Contains(err.Error(), word) {
				return fmt.Errorf("%s: %w, want %s", text, err, word)
			}
		}
		return nil
	})
}

// status checks what the proxy reports about itself.
func (v *stale) status() {
	s := v.last().Status()
	if cut := s.Cut(); len(cut.Refused) != 0 || len(cut.Stale) != 1 || cut.Stale[0] != "s0" || cut.Since.IsZero() {
		v.t.Errorf("%+v", cut)
	}
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}
