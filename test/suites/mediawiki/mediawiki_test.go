//go:build long

package mediawiki

import (
	"path/filepath"
	"testing"
	"time"

	"locus/proxy/txn"
	"locus/test/servers"
	"locus/test/shop"
	"locus/test/suites/application"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

// sharded are the tables, each by what its rows belong to. All others stay as they are, on one shard.
const sharded = `  mediawiki.user_properties: {kind: sharded, owner: up_user}
  mediawiki.user_groups: {kind: sharded, owner: ug_user}
  mediawiki.watchlist: {kind: sharded, owner: wl_user}
  mediawiki.page_props: {kind: sharded, owner: pp_page}
  mediawiki.pagelinks: {kind: sharded, owner: pl_from}
  mediawiki.categorylinks: {kind: sharded, owner: cl_from}
  mediawiki.templatelinks: {kind: sharded, owner: tl_from}
`

func TestUndeclared(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		stand.Start(t, engine).Check(t, program(t).Run)
	})
}

func TestSharded(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := stand.StartWith(t, engine, shop.Options{Declarations: sharded, User: ", scatter_writes: allow", Spanning: txn.XA})
		p := program(t)
		s.Check(t, func(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
			outcomes := p.Run(t, at, cases)
			if at.Name == s.Proxy.Name {
				application.Spread(t, s, p.Database, "user_properties", "user_groups", "watchlist", "page_props", "pagelinks", "categorylinks", "templatelinks")
			}
			return outcomes
		})
	})
}

// program is cases.php, in a time that stands still.
func program(t *testing.T) application.Program {
	t.Helper()
	cases, err := filepath.Abs("cases.php")
	if err != nil {
		t.Fatal(err)
	}
	return application.Program{
		Dir:      t.TempDir(),
		Args:     []string{"faketime", "-f", "2026-01-02 03:04:05", "/usr/bin/php", "-d", "memory_limit=512M", cases},
		Env:      []string{"APP_DIR=" + filepath.Join(stand.Installed(t, "mediawiki"), "usr/share/mediawiki")},
		Database: "mediawiki",
		Limit:    10 * time.Minute,
		// What is drawn at random, and caches, whose texts have that in them.
		Unlike: []string{
			"user.user_token", "user.user_password", "user.user_email_token", "page.page_random", "job.job_random", "job.job_token", "objectcache.value",
			"objectcache.keyname", "objectcache.modtoken", "recentchanges.rc_params", "site_stats.ss_row_id",
		},
	}
}
