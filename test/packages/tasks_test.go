package packages

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"locus/internal/test/process"
	"locus/internal/test/servers"
	"locus/test/product"
)

// tasks are the tasks of an operator, in the order of a story on one cluster, after the installation. Each is done by the commands of its page in
// the Debian with the package, exactly as they are written there. The servers of the shards run outside of it. Restoring a shard from a copy
// is not one of them: its page has no blocks of commands, and test/switchover does its steps.
var tasks = []struct {
	name, page string
	follow     func(*story)
}{
	{"connect an application", "connect-an-application.md", connectAnApplication},
	{"shard a table", "shard-a-table.md", shardTables},
	{"import", "import.md", importTables},
	{"add a shard", "add-a-shard.md", addAShard},
	{"split and roll back", "split-and-merge.md", splitAndRollBack},
	{"remove a shard", "add-a-shard.md", removeAShard},
	{"switch over", "switchover.md", switchOver},
	{"recover a lost primary", "recover-a-server.md", recoverAPrimary},
	{"rotate a key", "rotate-keys.md", rotateAKey},
}

// replaced are the texts of all pages that the reader replaces by his own. Addresses are replaced too, by the task of a page.
var replaced = []string{
	"--every 1m", "--every 1s", // how long an operator watches the applications after a step
}

// story is the cluster of the tasks, and the operator who does them.
type story struct {
	*testing.T
	site
	root    root
	unit    unit
	service *product.Program
	whole   *testing.T // the test of all tasks: the service ends with it
	pages   map[string]*howto

	app      *sql.DB // connections of the application
	page     *howto
	replaces []string // pairs of a text on the page and its replacement
	answers  string   // the input for the questions of a command
	exported string   // the lines that set variables of the operator's shell
}

// doTasks does all tasks. It returns the service, which a task may have restarted.
func doTasks(t *testing.T, all story) *product.Program {
	all.pages, all.whole = map[string]*howto{}, t
	for _, task := range tasks {
		done := t.Run(task.name, func(t *testing.T) {
			all.T, all.replaces, all.answers = t, replaced[:len(replaced):len(replaced)], "y\ny\ny\n"
			all.turnTo(task.page)
			all.app = client(t, all.root, all.site)
			task.follow(&all)
		})
		if !done {
			t.Fatal("the tasks after this one need what it leaves")
		}
	}
	for _, p := range all.pages {
		p.complete(t)
	}
	return all.service
}

// turnTo opens a page.
func (s *story) turnTo(name string) {
	s.Helper()
	if s.pages[name] == nil {
		s.pages[name] = readPage(s.T, name)
	}
	s.page = s.pages[name]
}

// replace declares a text of the page that the reader replaces.
func (s *story) replace(old, new string) { s.replaces = append(s.replaces, old, new) }

// section runs all blocks of a section.
func (s *story) section(name string) {
	s.Helper()
	blocks := s.page.runnable(name)
	if len(blocks) == 0 {
		s.Fatalf("%s has no section %q with commands", s.page.name, name)
	}
	for i := range blocks {
		s.block(name, i+1)
	}
}

// block runs a block of a section, and returns its output. The first block is number 1.
func (s *story) block(section string, number int) string {
	s.Helper()
	printed, err := s.attempt(section, number)
	if err != nil {
		s.Fatalf("%s, %s, block %d: %v", s.page.name, section, number, err)
	}
	return printed
}

// attempt is block for commands that may fail.
func (s *story) attempt(section string, number int) (string, error) {
	s.Helper()
	blocks := s.page.runnable(section)
	if number > len(blocks) {
		s.Fatalf("section %q of %s has %d blocks of commands, not %d", section, s.page.name, len(blocks), number)
	}
	b := blocks[number-1]
	b.ran = true
	text := strings.NewReplacer(s.replaces...).Replace(b.text)
	began := time.Now()
	defer func() { s.Logf("%v for\n%s", time.Since(began).Round(time.Millisecond), text) }()
	if b.kind == "sql" {
		return "", s.statements(text)
	}
	return s.type_(text, s.answers)
}

// eventually runs a block that checks something again and again, until it succeeds.
func (s *story) eventually(section string, number int) {
	s.Helper()
	product.Eventually(s.T, section+" succeeds", func() bool {
		_, err := s.attempt(section, number)
		return err == nil
	})
}

// type_ types commands on a terminal of the Debian, and answers their questions.
func (s *story) type_(commands, answers string) (string, error) {
	s.Helper()
	s.root.write("/root/typed.sh", s.exported+commands)
	ctx, cancel := context.WithTimeout(s.Context(), process.Patience)
	defer cancel()
	keyboard, keys, err := os.Pipe() // the input stays open, because script waits after its end
	if err != nil {
		s.Fatal(err)
	}
	defer keyboard.Close()
	defer keys.Close()
	if _, err := keys.WriteString(answers); err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-euc", shell, "root", s.root.dir, `script -qec "bash -eu typed.sh" /dev/null`)
	c.Stdin = keyboard
	return output(c)
}

// locus runs a command that is not on the page, to check the result of a task.
func (s *story) locus(command string) string {
	s.Helper()
	return s.root.run(s.exported + "locus " + command)
}

// statements runs the statements of a page through the proxy, as the application.
func (s *story) statements(text string) error {
	for statement := range strings.SplitSeq(text, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		rows, err := s.app.QueryContext(s.Context(), statement)
		if err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		for rows.Next() {
		}
		if err := rows.Err(); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		_ = rows.Close()
	}
	return nil
}

// do executes statements through the proxy.
func (s *story) do(statements ...string) {
	s.Helper()
	for _, text := range statements {
		if err := s.statements(text); err != nil {
			s.Fatal(err)
		}
	}
}

// wants checks the number that a query through the proxy returns.
func (s *story) wants(query string, want int) {
	s.Helper()
	s.number(s.app, query, want)
}

func (s *story) number(db *sql.DB, query string, want int) {
	s.Helper()
	var got int
	if err := db.QueryRowContext(s.Context(), query).Scan(&got); err != nil || got != want {
		s.Errorf("%s: %d (%v), not %d", query, got, err, want)
	}
}

// phase waits until a job is in a phase, with a percentage of its genes handed over.
func (s *story) phase(job, phase, percent string) {
	s.Helper()
	wanted := regexp.MustCompile(`(?m)^` + job + `\s+` + phase + `\s+` + percent + ` %`)
	product.Eventually(s.T, job+" is "+phase, func() bool { return wanted.MatchString(s.locus("jobs")) })
}

// restart ends the service and starts it again, as systemctl restart does.
func (s *story) restart() {
	s.Helper()
	stop(s.T, s.service)
	s.service = s.unit.start(s.whole, s.root)
	ready(s.T, s.service, s.site)
}

func connectAnApplication(s *story) {
	const password = "a password of the application"
	s.answers = password + "\n" + password + "\n"
	s.section("1. Declare a user")
	s.section("3. Adapt the statements")
	s.number(login(s.T, s.site, "web", password, "skip-verify"), "SELECT COUNT(*) FROM orders", rows)
	if err := login(s.T, s.site, "web", password, "false").PingContext(s.Context()); err == nil || !strings.Contains(err.Error(), "3159") {
		s.Errorf("without TLS: %v", err)
	}
}

func shardTables(s *story) {
	s.turnTo("rotate-keys.md")
	s.root.edit("/etc/locus/locus.yaml", "etcd:\n", "key_ring: /etc/locus/keys.yaml\netcd:\n")
	s.section("The first key")
	s.restart()
	s.turnTo("shard-a-table.md")
	s.section("A new table")
	s.section("A table without rows")
	for _, shard := range s.shards {
		shard.Exec(s, "CREATE TABLE shop.invoice (invoice_id BIGINT NOT NULL PRIMARY KEY, buyer_uid BIGINT NOT NULL, KEY (buyer_uid))")
	}
	s.section("Without a migration")
	s.section("Remove a declaration")
	for _, shard := range s.shards {
		shard.Exec(s, "DROP TABLE shop.invoice") // doctor would report it
	}
	for _, name := range []string{"test_order", "order_item", "country", "person", "district", "visitor"} {
		s.wants("SELECT COUNT(*) FROM "+name, 0)
		for _, shard := range s.shards {
			s.number(shard.DB(s, "shop"), "SELECT COUNT(*) FROM "+name, 0)
		}
	}
	s.fill("test_order (buyer_uid, amount)", "(%d, 1)")
	s.fill("visitor (name)", "('%d')")
	s.fill("country", "('%02d')")
	s.everywhere("test_order")
	s.everywhere("visitor")
}

// fill inserts as many rows as the table orders has: each is the format, with the number of its owner.
func (s *story) fill(insert, row string) {
	s.Helper()
	var all []string
	for i := range rows {
		all = append(all, fmt.Sprintf(row, i))
	}
	s.do("INSERT INTO " + insert + " VALUES " + strings.Join(all, ", "))
}

func importTables(s *story) {
	s.do("CREATE TABLE purchase (purchase_id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, buyer_uid BIGINT NOT NULL)",
		"CREATE TABLE purchase_item (purchase_id BIGINT NOT NULL, line INT NOT NULL, buyer_uid BIGINT NOT NULL, PRIMARY KEY (purchase_id, line, buyer_uid))",
		"CREATE TABLE currency (code CHAR(3) NOT NULL PRIMARY KEY)")
	s.fill("purchase (buyer_uid)", "(%d)")
	s.do("INSERT INTO purchase_item SELECT purchase_id, 1, buyer_uid FROM purchase", "INSERT INTO currency VALUES ('EUR'), ('JPY')")
	s.section("Shard a table of the default shard")
	s.section("Make a table global")
	s.phase("import-2", "done", "100")
	for _, name := range []string{"purchase", "purchase_item"} {
		s.everywhere(name)
	}
}

// everywhere checks that all rows of a table are there, some on each shard.
func (s *story) everywhere(table string) {
	s.Helper()
	s.wants("SELECT COUNT(*) FROM "+table, rows)
	total := 0
	for _, shard := range s.shards {
		var n int
		if err := shard.DB(s, "shop").QueryRowContext(s.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n == 0 {
			s.Errorf("%d rows of %s on %s (%v)", n, table, shard.Addr(), err)
		}
		total += n
	}
	if total != rows {
		s.Errorf("the shards have %d rows of %s", total, table)
	}
}

func addAShard(s *story) {
	added := s.spare[0]
	s.replace("10.0.0.33:3306", added.Addr())
	s.root.write("/root/s2.password", added.Password)
	s.block("Add a shard", 1)
	s.block("Add a shard", 2)
	s.eventually("Add a shard", 3)
	s.number(added.DB(s, "shop"), "SELECT COUNT(*) FROM country", rows)
	s.number(added.DB(s, "shop"), "SELECT COUNT(*) FROM test_order", 0)
	s.shards = append(s.shards, added)
}

func splitAndRollBack(s *story) {
	s.replace("split-1", "split-3") // the third job of this cluster
	s.block("Split", 1)
	s.block("Split", 2)
	s.section("Compare the answers of the target")
	s.block("Split", 3)
	s.block("Split", 4)
	s.wants("SELECT COUNT(*) FROM orders", rows)
	s.section("Roll back")
	s.phase("split-3", "ready", "0")
	s.wants("SELECT COUNT(*) FROM orders", rows)
	s.block("Split", 4)
	s.block("Split", 5)
	for _, table := range []string{"orders", "test_order", "purchase", "purchase_item"} {
		s.everywhere(table)
	}
}

func removeAShard(s *story) {
	s.replace("merge-1", "merge-4")
	s.section("Remove a shard")
	s.shards = s.shards[:2]
	for _, table := range []string{"orders", "test_order", "purchase", "purchase_item"} {
		s.everywhere(table)
	}
}

// switchOver needs a shard with several servers: it declares the replica of s0, which has followed it from the beginning.
func switchOver(s *story) {
	first, second := s.shards[0], s.spare[1]
	s.root.run("cd /etc/locus/secrets/shards; install -m 0600 -o locus s0 s0-admin")
	declared := s.locus("get")
	declared = regexp.MustCompile(`(?m)^( +)address: "?`+regexp.QuoteMeta(first.Addr())+`"?$`).ReplaceAllString(declared,
		fmt.Sprintf("${1}servers: [%s, %s]\n${1}admin: {user: locus_admin, secret: shards/s0-admin}", first.Addr(), second.Addr()))
	s.root.write("/root/cluster.yaml", declared)
	s.locus("apply -f cluster.yaml")
	s.replace("10.0.0.11:3306", second.Addr())
	s.eventually("Switch the primary of a shard", 1)
	s.block("Switch the primary of a shard", 2)
	s.primary(second)
	s.writes()
}

// primary checks which server is the primary of s0.
func (s *story) primary(server *servers.Server) {
	s.Helper()
	var address string
	if err := s.app.QueryRowContext(s.Context(), "SELECT address FROM locus.shards WHERE name = 's0'").Scan(&address); err != nil || address != server.Addr() {
		s.Errorf("the primary is %s (%v), not %s", address, err, server.Addr())
	}
}

// writes checks that each owner's rows can be read and written.
func (s *story) writes() {
	s.Helper()
	for buyer := range 8 {
		s.do(fmt.Sprintf("UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = %d", buyer))
	}
	s.wants("SELECT COUNT(*) FROM test_order", rows)
	s.wants("SELECT COUNT(*) FROM orders", rows)
}

func recoverAPrimary(s *story) {
	next, lost := s.shards[0], s.spare[1]
	if err := lost.Kill(); err != nil {
		s.Fatal(err)
	}
	s.replace("10.0.0.11:3306", next.Addr())
	s.replace("10.0.0.1:3306", lost.Addr())
	s.block("Take a server by hand", 1)
	if printed, err := s.attempt("Take a server by hand", 2); err == nil || !strings.Contains(printed, "is the primary now, but not all steps are done") || !strings.Contains(printed, lost.Addr()) {
		s.Fatalf("%v\n%s", err, printed)
	}
	s.primary(next)
	s.writes()
	lost.Restart(s)
	product.Eventually(s.T, "the lost primary follows", func() bool {
		_, err := s.root.try(s.exported + "locus doctor")
		return err == nil
	})
	s.section("A server with transactions of its own")
	s.writes()
}

func rotateAKey(s *story) {
	s.section("Another key")
	s.key(2)
	s.do("INSERT INTO test_order (buyer_uid, amount) VALUES (1000, 1)", "DELETE FROM test_order WHERE buyer_uid = 1000")
	s.section("A schedule")
	s.key(3)
	s.writes()
}

// key checks the version by which the service hides new numbers.
func (s *story) key(version int) {
	s.Helper()
	if status := s.locus("keys status"); !strings.Contains(status, fmt.Sprintf("key version %d hides new numbers", version)) {
		s.Errorf("the status is\n%s", status)
	}
}
