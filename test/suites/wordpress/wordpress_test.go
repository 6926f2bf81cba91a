//go:build long

package wordpress

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
const sharded = `  wordpress.wp_users: {kind: sharded, owner: ID}
  wordpress.wp_usermeta: {kind: sharded, owner: user_id}
  wordpress.wp_posts: {kind: sharded, owner: ID}
  wordpress.wp_postmeta: {kind: sharded, owner: post_id}
  wordpress.wp_comments: {kind: sharded, owner: comment_post_ID}
  wordpress.wp_commentmeta: {kind: sharded, owner: comment_id}
  wordpress.wp_term_relationships: {kind: sharded, owner: object_id}
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
				application.Spread(t, s, p.Database, "wp_users", "wp_usermeta", "wp_posts", "wp_postmeta", "wp_comments", "wp_commentmeta", "wp_term_relationships")
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
		Env:      []string{"APP_DIR=" + filepath.Join(stand.Installed(t, "wordpress"), "usr/share/wordpress")},
		Database: "wordpress",
		Limit:    10 * time.Minute,
	}
}
