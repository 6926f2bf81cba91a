package demo

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/internal/test/process"
	"locus/test/product"
)

// TestTheFirstPagesWordByWord runs the commands of README and of the quick start exactly as written, in order,
// in a fresh shell.
func TestTheFirstPagesWordByWord(t *testing.T) {
	s, d := openTerminal(t)
	_, tries, _ := strings.Cut(page(t, "README.md"), "\n## Try it\n")
	tries, _, _ = strings.Cut(tries, "\n## ")
	start := page(t, "docs/start/quickstart.md")
	if ran := s.runPage(t, d, tries); ran < 1 {
		t.Error("README has no command")
	}
	if ran := s.runPage(t, d, start); ran < 14 {
		t.Errorf("the quick start has only %d commands", ran)
	}
}

// TestASchemaOfYourOwn runs the commands and the statements of the tutorial in their order, then the statements of the other pages.
func TestASchemaOfYourOwn(t *testing.T) {
	s, d := openTerminal(t)
	if ran := s.runPage(t, d, page(t, "docs/start/own-schema.md")); ran < 18 {
		t.Errorf("the tutorial has only %d commands and blocks of SQL", ran)
	}
	s.statementsOfPages(t, d)
}

func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// runPage runs the blocks of a page but those that start a demo, and returns how many commands and blocks of SQL these were. Statements
// run in the current database of those before. A block that is marked with error=NUMBER must end with that error.
func (s *terminal) runPage(t *testing.T, d *demo, text string) (ran int) {
	t.Helper()
	port, database := portOf(d.Proxies[0].Addr), ""
	for i, block := range strings.Split(text, "```") {
		if i%2 == 0 || strings.Contains(block, "make demo") {
			continue
		}
		mark, block, _ := strings.Cut(block, "\n")
		if !strings.HasPrefix(mark, "sql") {
			for _, line := range commandsOf(strings.ReplaceAll(block, "-P 4306", "-P "+port)) {
				s.run(t, line)
				ran++
			}
			continue
		}
		if err := os.WriteFile(filepath.Join(s.dir, "typed.sql"), []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		command := "mariadb -h 127.0.0.1 -P " + port + " -u app -papp -t " + database + " < typed.sql"
		if _, number, fails := strings.Cut(mark, "error="); fails {
			command = "{ " + command + " 2>&1 || true; } | grep -F 'ERROR " + number + " '"
		}
		s.run(t, command)
		if m := regexp.MustCompile(`(?m)^USE (\w+);`).FindStringSubmatch(block); m != nil {
			database = m[1]
		}
		ran++
	}
	return ran
}

// TestWhatTheDemoPrints runs the commands that the demo prints, in their order, in a fresh shell.
func TestWhatTheDemoPrints(t *testing.T) {
	s, d := openTerminal(t)
	var log []byte
	product.Eventually(t, "all is printed", func() (all bool) {
		var err error
		if log, err = os.ReadFile(d.program.Log); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(log), "\nCtrl-C stops everything")
	})
	_, hints, _ := strings.Cut(string(log), "Look around")
	hints, _, _ = strings.Cut(hints, "\nor in SQL")
	id := regexp.MustCompile(`\d{19}`).FindString(d.must("id", "next", "--table", "shop.test_order", "--owner", "42"))
	ran, waits := 0, []string{" wait split-1", " wait split-1 --for cut"}
	for line := range strings.Lines(hints) {
		command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "  ")
		if !indented {
			continue
		}
		command = strings.NewReplacer("decode ID", "decode "+id, "--every 5s", "--every 1s").Replace(command)
		if watch, is := strings.CutSuffix(command, " watch"); is { // wait ends without a key
			command = watch + waits[0]
			waits = waits[1:]
		}
		s.run(t, command)
		ran++
	}
	if ran < 8 {
		t.Errorf("the demo prints only %d commands:\n%s", ran, log)
	}
	d.valuesRoute()
}

// valuesRoute holds the values that docs/reference/sql-support.md lists to the genes that EXPLAIN shows.
func (d *demo) valuesRoute() {
	text, err := os.ReadFile("../../docs/reference/sql-support.md")
	if err != nil {
		d.t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| value for an integer owner | gives |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	tried := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		var want *regexp.Regexp
		switch gives := strings.TrimSpace(cells[2]); {
		case strings.HasPrefix(gives, "the gene"):
			want = regexp.MustCompile(`^0x[0-9a-f]{4}$`)
		case strings.HasPrefix(gives, "all"):
			want = regexp.MustCompile(`^all$`)
		case strings.HasPrefix(gives, "no row"):
			want = regexp.MustCompile(`^none$`)
		default:
			d.t.Fatalf("what does %q mean?", gives)
		}
		column := "buyer_uid"
		for _, part := range strings.SplitAfter(cells[1], "for an ID") {
			for _, value := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(part, -1) {
				var name, genes string
				for _, row := range d.explained("SELECT 1 FROM test_order WHERE " + column + " = " + value[1]) {
					if row[0] == "genes" {
						name, genes = row[0], row[1]
					}
				}
				if name == "" || !want.MatchString(genes) {
					d.t.Errorf("%s = %s: genes %q, want %s", column, value[1], genes, want)
				}
				tried++
			}
			column = "order_id"
		}
	}
	if tried < 12 {
		d.t.Errorf("only %d values are listed", tried)
	}
}

func (d *demo) explained(statement string) (rows [][2]string) {
	d.t.Helper()
	found, err := d.db().Query("EXPLAIN " + statement)
	if err != nil {
		d.t.Fatalf("EXPLAIN %s: %v", statement, err)
	}
	defer found.Close()
	for found.Next() {
		var row [2]string
		if err := found.Scan(&row[0], &row[1]); err != nil {
			d.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := found.Err(); err != nil {
		d.t.Fatal(err)
	}
	return rows
}

// terminal runs commands in the directory in which a user has built the binary and started the demo.
type terminal struct {
	dir   string
	lines []string // those that set variables, which count for all that follow
}

func openTerminal(t *testing.T) (*terminal, *demo) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's-a-demo") // the commands must quote it
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary, filepath.Join(dir, "bin", "locus")); err != nil {
		t.Fatal(err)
	}
	return &terminal{dir: dir}, start(t, dbserver.MariaDB, filepath.Join(dir, "locus-demo-data"))
}

// run runs a command on a terminal, and answers yes to its question.
func (s *terminal) run(t *testing.T, command string) {
	t.Helper()
	if strings.HasPrefix(command, "export ") {
		s.lines = append(s.lines, command)
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	script := strings.Join(append(s.lines, command), "\n")
	file := filepath.Join(s.dir, "typed.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, "script", "-qec", "bash -e typed.sh", "/dev/null")
	c.Dir, c.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=xterm", "SHELL=/bin/bash"}
	c.Stdin = strings.NewReader("y\n")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", command, err, out)
	}
	t.Logf("%s\n%s", command, out)
}

// commandsOf returns the commands of a block, without comments. The lines that are typed at a client's prompt are one command with the
// client's.
func commandsOf(block string) []string {
	var commands []string
	for line := range strings.Lines(block) {
		line = regexp.MustCompile(`\s+(#|--) .*$`).ReplaceAllString(strings.TrimRight(line, "\n"), "")
		switch sql, typed := strings.CutPrefix(line, "> "); {
		case typed:
			commands[len(commands)-1] += ` -e "` + sql + `"`
		case line != "":
			commands = append(commands, line)
		}
	}
	return commands
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// statementsOfPages runs the SQL blocks of all pages as a user with admin: true. It leaves out statements that
// have their own tests, need other tables, or begin a job.
func (s *terminal) statementsOfPages(t *testing.T, d *demo) {
	t.Helper()
	elsewhere := regexp.MustCompile(`^(GRANT|CREATE USER|CALL|RENAME|CREATE (SCHEMA|TABLE) (IF NOT EXISTS )?(locus|billing)\b|INSERT INTO billing)`)
	var statements []string
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".md") || strings.HasSuffix(path, "own-schema.md") {
			return err
		}
		for _, block := range strings.Split(page(t, strings.TrimPrefix(path, "../../")), "```sql\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			block = regexp.MustCompile(`(?m)\s+-- .*$`).ReplaceAllString(block, "")
			for _, statement := range regexp.MustCompile(`(?m);\s*$`).Split(block, -1) {
				if statement = strings.TrimSpace(statement); statement != "" && !elsewhere.MatchString(statement) {
					statements = append(statements, statement+";\n")
				}
			}
		}
		return nil
	})
	if err != nil || len(statements) < 15 {
		t.Fatalf("%d statements, %v", len(statements), err)
	}
	reads := func(statement string) int { // tables are made before they are read
		if strings.HasPrefix(statement, "CREATE ") {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(statements, func(a, b string) int { return reads(a) - reads(b) })
	if err := os.WriteFile(filepath.Join(s.dir, "typed.sql"), []byte("CREATE DATABASE pages; USE pages;\n"+strings.Join(statements, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(t, `mariadb -h 127.0.0.1 -P `+portOf(d.Proxies[0].Addr)+` -u dba -p"$(cat locus-demo-data/secrets/users/dba)" -t < typed.sql`)
}
