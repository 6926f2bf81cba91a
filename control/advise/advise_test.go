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

// A proposal is written, edited and read. Its errors are reported with the table.
func TestReadProposal(t *testing.T) {
	s := readFixture(t, "shop.schema")
	added := "shards: 4\ntables:\n  db.orders: {declare: owner=user_id}\n  db.order_items:\n    declare: owner=user_id\n    add: {column: user_id, from: db.orders, value: user_id, by: order_id, key: id}\n"
	for _, test := range []struct{ text, want string }{
		{added, ""},
		{"shards: 4\ntables: {db.users: {declare: global}, db.audit: {declare: shard=s1}}", ""},
		{"shards: 4\ntables: {}", ""},
		{"", "empty"},
		{"shards: 0\ntables: {}", "shards: 0: use a number from 1 to 256"},
		{"shards: 4\ntable: {}", "table"},
		{"shards: 4\ntables: {db.users: }", "table db.users: declare is missing"},
		{"shards: 4\ntables: {users: {declare: global}}", "table users: the server has no such table; write it as schema.table"},
		{"shards: 4\ntables: {db.users: {declare: owner=nam}}", "did you mean name?"},
		{"shards: 4\ntables: {db.users: {declare: owner=id global}}", "table db.users"},
		{"shards: 4\ntables: {db.users: {declare: own=id}}", "the words are global"},
		{"shards: 4\ntables: {db.order_items: {declare: parent=order_id}}", ""},
		{"shards: 4\ntables: {db.orders: {declare: owner=created}}", "an owner is an integer"},
		{strings.Replace(added, "value: user_id", "value: nothing", 1), "add: value: table db.orders has no column nothing"},
		{strings.Replace(added, "from: db.orders", "from: db.nothing", 1), "add: from: the server has no table db.nothing"},
		{strings.Replace(added, "column: user_id", "column: qty", 1), "add: it has a column qty already"},
		{strings.Replace(added, "by: order_id", "by: order", 1), "add: by: it has no column order"},
		{strings.Replace(added, "key: id", "key: no", 1), "add: key: table db.orders has no column no"},
	} {
		p, err := ReadProposal([]byte(test.text), s)
		switch {
		case test.want != "":
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s\n%v, want %s", test.text, err, test.want)
			}
			continue
		case err != nil:
			t.Errorf("%s\n%v", test.text, err)
			continue
		}
		if _, err := Evaluate(s, readWorkload(t, "shop.statements"), p, Options{}); err != nil {
			t.Errorf("%s\n%v", test.text, err)
		}
	}
}

// A column that a statement compares with one value only, or that has few different values, is no owner.
func TestNoOwner(t *testing.T) {
	s := schemaOf(t, "table event rows=1000\n  id bigint auto\n  deleted int\n  kind tinyint\n  body text\n  primary id\n  key deleted\n  key kind\n")
	w := NewWorkload()
	addExecutions(w, 1000, 1, "SELECT body FROM event WHERE deleted = 0 AND kind = {n}")
	addExecutions(w, 1000, 1, "SELECT COUNT(*) FROM event WHERE deleted = 0")
	p, _ := reported(t, s, w, Options{Shards: 4})
	if got := p.Tables["db.event"]; got != nil && strings.HasPrefix(got.Declare, "owner=") {
		t.Errorf("%+v", got)
	}
}

// Without statements on its tables, a schema is reported as it is.
func TestNothingToPropose(t *testing.T) {
	w := NewWorkload()
	addExecutions(w, 10, 1, "SELECT 1")
	p, r := reported(t, readFixture(t, "shop.schema"), w, Options{Shards: 4})
	if len(p.Tables) != 0 || r.Statements != 10 {
		t.Errorf("%+v", p)
	}
	var out bytes.Buffer
	r.Print(&out)
	if !strings.Contains(out.String(), "Leave all tables on one shard") {
		t.Error(out.String())
	}
}
