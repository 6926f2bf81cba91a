package advise

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/golden"
)

func reported(t *testing.T, s *Schema, w *Workload, o Options) (*Proposal, *Report) {
	t.Helper()
	p, err := Propose(s, w, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Evaluate(s, w, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// Each of the schemas gets its natural owners. The reports are golden files.
func TestNaturalOwners(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		want    map[string]string
	}{
		{"shop", Options{Shards: 4}, map[string]string{
			"users": "owner=id", "orders": "owner=user_id", "order_items": "owner=user_id", "payments": "owner=user_id", "carts": "owner=user_id",
			"products": "global", "countries": "global",
		}},
		{"wordpress", Options{Shards: 4, KeepColumns: true, ScatterWrites: true}, map[string]string{
			"wp_posts": "owner=ID", "wp_postmeta": "owner=post_id", "wp_comments": "owner=comment_post_ID", "wp_commentmeta": "owner=comment_id",
			"wp_users": "owner=ID", "wp_usermeta": "owner=user_id", "wp_term_relationships": "owner=object_id",
		}},
		{"mediawiki", Options{Shards: 4, KeepColumns: true}, map[string]string{
			"page": "owner=page_id", "revision": "owner=rev_page", "categorylinks": "owner=cl_from", "page_props": "owner=pp_page", "pagelinks": "owner=pl_from",
			"user_properties": "owner=up_user", "watchlist": "owner=wl_user",
		}},
		{"tpcc", Options{Shards: 4}, map[string]string{
			"warehouse": "owner=w_id", "district": "owner=d_w_id", "customer": "owner=c_w_id", "orders": "owner=o_w_id", "new_order": "owner=no_w_id",
			"order_line": "owner=ol_w_id", "stock": "owner=s_w_id", "history": "owner=h_w_id", "item": "global",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, w := readFixture(t, test.name+".schema"), readWorkload(t, test.name+".statements")
			p, r := reported(t, s, w, test.options)
			for _, name := range slices.Sorted(maps.Keys(test.want)) {
				got := "one shard"
				if table := p.Tables["db."+name]; table != nil {
					got = table.Declare
				}
				if got != test.want[name] {
					t.Errorf("%s: %s, want %s", name, got, test.want[name])
				}
			}
			var out bytes.Buffer
			r.Print(&out)
			for line := range strings.Lines(out.String()) {
				if !strings.HasPrefix(line, "      ") && len([]rune(strings.TrimSuffix(line, "\n"))) > width {
					t.Errorf("a line of %d columns: %s", len([]rune(line)), line)
				}
			}
			file := "testdata/" + test.name + ".report"
			if golden.Update(t, file, out.String()) {
				return
			}
			want, _ := os.ReadFile(file)
			if out.String() != string(want) {
				t.Errorf("%s has changed (go test -update, and look at the difference):\n%s", file, out.String())
			}
		})
	}
}
