//go:build long

package histories

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	harness "locus/test/cluster"
	"locus/test/product"
	"locus/test/suites/stand"
)

// TestImportOfWordPress imports the tables of a site's users, posts, comments and their details, in one job,
// while the site is used and processes are killed: from the default shard, and from a server outside.
func TestImportOfWordPress(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Run("of a shard", func(t *testing.T) { fromShard(t, engine, newSite(t)) })
		t.Run("outside", func(t *testing.T) { fromServer(t, engine, newSite(t)) })
	})
}

// site is WordPress, used by some processes of site.php.
type site struct {
	dir    string // of journals and reports
	script string
	root   string // of WordPress
	began  int    // how many processes
}

func newSite(t *testing.T) *site {
	t.Helper()
	script, err := filepath.Abs("../suites/wordpress/site.php")
	if err != nil {
		t.Fatal(err)
	}
	return &site{dir: t.TempDir(), script: script, root: filepath.Join(stand.Installed(t, "wordpress"), "usr/share/wordpress")}
}

func (*site) schema() string { return "wordpress" }

func (*site) growing() string { return "wp_posts" }

func (*site) imported() string {
	return "wordpress.wp_users owner=ID; wordpress.wp_usermeta owner=user_id; wordpress.wp_posts owner=ID; wordpress.wp_postmeta owner=post_id;" +
		"wordpress.wp_comments owner=comment_post_ID; wordpress.wp_commentmeta owner=comment_id; wordpress.wp_term_relationships owner=object_id"
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

// command runs site.php at an address.
func (s *site) command(at login, do string) (args []string, report string) {
	s.began++
	report = s.path(fmt.Sprintf("report-%d", s.began))
	journal := s.path(fmt.Sprintf("journal-%d", s.began))
	if do == "check" {
		journal = s.path("journal-*")
	}
	host, port, _ := strings.Cut(at.addr, ":")
	return []string{
		"env", "TZ=UTC", "APP_DIR=" + s.root, "APP_HOST=" + host, "APP_PORT=" + port, "APP_USER=" + at.user, "APP_PASSWORD=" + at.password, "APP_DATABASE=" + s.schema(),
		"APP_DO=" + do, fmt.Sprintf("APP_SEED=%d", s.began), "APP_REPORT=" + report, "APP_JOURNAL=" + journal, "APP_STOP=" + s.path("stop"),
		"/usr/bin/php", "-d", "memory_limit=512M", s.script,
	}, report
}

// refused returns the lines of a report.
func refused(t *testing.T, report string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(report)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// run runs a program that must succeed.
func (s *site) run(t *testing.T, at login, do string) {
	t.Helper()
	args, report := s.command(at, do)
	out := string(stand.Command{Dir: s.dir, Args: args, Limit: 10 * time.Minute}.Output(t))
	if lines := refused(t, report); len(lines) > 0 || !strings.HasSuffix(out, "end\n") {
		t.Fatalf("%s: %d lines, such as %v; %s", do, len(lines), lines[:min(len(lines), 10)], out)
	}
	t.Logf("%s: %s", do, strings.TrimSpace(out))
}

func (s *site) prepare(t *testing.T, at login) {
	t.Helper()
	s.run(t, at, "install")
	stop := s.use(t, at)
	db := at.open(t, s.schema())
	harness.Until(t, "there are posts", func() (bool, error) {
		var n int
		err := db.QueryRow("SELECT COUNT(*) FROM wp_posts").Scan(&n)
		return n > 150, err
	})
	for _, text := range stop() {
		t.Error(text)
	}
}

// beside copies the site's other tables: options, terms and links.
func (s *site) beside(t *testing.T, outside *servers.Server, at login) {
	t.Helper()
	from, pool := outside.DB(t, s.schema()), at.open(t, s.schema())
	to, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	// as dumps do, because MySQL's default sql_mode refuses zero dates, which are defaults in WordPress's tables
	if _, err := to.ExecContext(t.Context(), "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO'"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"wp_options", "wp_terms", "wp_term_taxonomy", "wp_termmeta", "wp_links"} {
		var name, form string
		if err := from.QueryRow("SHOW CREATE TABLE "+table).Scan(&name, &form); err != nil {
			t.Fatal(err)
		}
		if _, err := to.ExecContext(t.Context(), form); err != nil {
			t.Fatal(err)
		}
		rows, err := from.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			if _, err := to.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+strings.Repeat("?, ", len(columns)-1)+"?)", values...); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
}

func (s *site) use(t *testing.T, at login) (stop func() []string) {
	t.Helper()
	_ = os.Remove(s.path("stop"))
	var programs []*product.Program
	var reports []string
	for range 3 {
		args, report := s.command(at, "use")
		p := product.NewProgram(t, s.dir, fmt.Sprintf("site-%d", s.began), args...)
		p.Start(t)
		programs, reports = append(programs, p), append(reports, report)
	}
	return func() (lines []string) {
		if err := os.WriteFile(s.path("stop"), nil, 0o600); err != nil {
			t.Error(err)
		}
		for i, p := range programs {
			if err := p.Exit(t); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			lines = append(lines, refused(t, reports[i])...)
		}
		return lines
	}
}

func (s *site) check(t *testing.T, at login) {
	t.Helper()
	s.run(t, at, "check")
}
