package cluster

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/router"
	"locus/router/catalog"
)

var stamp = router.Stamp{By: "anna", Why: "more room", At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}

func TestSucceedNumbersMapsThatChange(t *testing.T) {
	first, err := Succeed(nil, good(t), stamp)
	if err != nil {
		t.Fatal(err)
	}
	if first.Routes.Version() != 1 || first.Stamp != stamp {
		t.Errorf("first version is %d by %+v", first.Routes.Version(), first.Stamp)
	}
	recut := good(t)
	recut.Routes = routed(t, 1, "0x00ff s0", "0x7fff s0", "0xffff s1")
	same, err := Succeed(first, recut, router.Stamp{By: "bert"})
	if err != nil {
		t.Fatal(err)
	}
	if same.Routes != first.Routes || same.Stamp != stamp {
		t.Errorf("a map that hands nothing over is version %d by %+v", same.Routes.Version(), same.Stamp)
	}
	moved := good(t)
	moved.Routes = routed(t, 1, "0xffff s1")
	second, err := Succeed(first, moved, router.Stamp{By: "bert"})
	if err != nil {
		t.Fatal(err)
	}
	if second.Routes.Version() != 2 || second.Stamp.By != "bert" || second.Routes.String() != "0x0000..0xffff  s1\n" {
		t.Errorf("second version is %d by %+v:\n%s", second.Routes.Version(), second.Stamp, second.Routes)
	}
}

// The version of the map shows which proxies use which declarations of tables.
func TestSucceedNumbersTablesThatArePlacedAnew(t *testing.T) {
	first := good(t)
	for what, change := range map[string]func(*Cluster, catalog.TableName, catalog.Declaration){
		"declared no longer": func(c *Cluster, name catalog.TableName, _ catalog.Declaration) { delete(c.Tables, name) },
		"a new one": func(c *Cluster, _ catalog.TableName, d catalog.Declaration) {
			c.Tables[catalog.TableName{Schema: "shop", Name: "other"}] = d
		},
		"another owner": func(c *Cluster, name catalog.TableName, d catalog.Declaration) {
			d.Owner = "seller_uid"
			c.Tables[name] = d
		},
		"": func(c *Cluster, name catalog.TableName, d catalog.Declaration) {
			d.Version = "changed"
			c.Tables[name] = d
		},
	} {
		next := good(t)
		name := catalog.TableName{Schema: "shop", Name: "test_order"}
		d, there := next.Tables[name]
		if !there {
			t.Fatalf("there is no %s", name)
		}
		change(next, name, d)
		got, err := Succeed(first, next, router.Stamp{By: "bert"})
		if err != nil {
			t.Fatal(err)
		}
		want := first.Routes.Version()
		if what != "" {
			want++
		}
		if got.Routes.Version() != want || (got.Stamp.By == "bert") != (what != "") || got.Routes.String() != first.Routes.String() {
			t.Errorf("%s: version %d by %+v", what, got.Routes.Version(), got.Stamp)
		}
	}
}

// A file that is stored with an application stays valid after genes have moved.
func TestRoutesThatAreLeftOutStay(t *testing.T) {
	first, err := Succeed(nil, good(t), stamp)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(Format(first)), "\n# Route map")
	next, err := Parse([]byte(text))
	if err != nil || next.Routes != nil {
		t.Fatal(err, next)
	}
	if changes, err := Diff(first, next); err != nil || changes != nil {
		t.Errorf("differences %v, %v", changes, err)
	}
	after, err := Succeed(first, next, router.Stamp{By: "bert"})
	if err != nil || after.Routes != first.Routes || after.Stamp != stamp {
		t.Errorf("%+v, %v", after, err)
	}
	delete(next.Shards, "s1")
	if _, err := Succeed(first, next, stamp); err == nil || !strings.Contains(err.Error(), "routes: unknown shard s1 owns") {
		t.Errorf("a shard with genes is gone: %v", err)
	}
	if _, err := Succeed(nil, next, stamp); err == nil || !strings.Contains(err.Error(), "routes: missing: a cluster's first file gives every gene a shard") {
		t.Errorf("the first file: %v", err)
	}
}

func TestSucceedRefusesWhatRowsRelyOn(t *testing.T) {
	next := good(t)
	next.Settings.GeneBits, next.Settings.CounterGroups, next.Settings.Hash = 15, 512, "other"
	_, err := Succeed(good(t), next, stamp)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"gene_bits is 16 and can't become 15", "hash is xxhash64^murmur64 and can't"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}

// Changes that would make a generator restart its count, or use other bits, are refused.
func TestSucceedRefusesWhatNumbersRelyOn(t *testing.T) {
	table := func(shards ...router.ShardName) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{"n": {Kind: AutoIncrementGenerator, Shards: shards}}
		return c
	}
	for _, next := range []*Cluster{table("s0"), table("s1", "s0"), table("s0", "s1", "s0", "s1")} {
		if _, err := Succeed(table("s0", "s1"), next, stamp); err == nil || !strings.Contains(err.Error(), "of and shards of n can't change") {
			t.Errorf("shards %v: %v", next.Generators["n"].Shards, err)
		}
	}
	if _, err := Succeed(table("s0", "s1"), table("s0", "s1"), stamp); err != nil {
		t.Error(err)
	}
}

// Changes that would make a format restart its count, or hide the sequence in another way, are refused.
func TestSucceedRefusesWhatTextsRelyOn(t *testing.T) {
	made := func(template string) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{"n": {Kind: FormatGenerator, Template: template}}
		return c
	}
	const daily = "{time:yyyyMMdd}{seq:6,per=yyyyMMdd}"
	for _, change := range [][2]string{
		{daily, "{time:yyyyMMdd}{seq:6}"},
		{daily, "{time:yyyyMM}{seq:6,per=yyyyMM}"},
		{daily, "{time:yyyyMMdd,zone=+08:00}{seq:6,per=yyyyMMdd,zone=+08:00}"},
		{"A{seq:6}", "A{seq:6,hidden=1}"},
		{"A{seq:6,hidden=1}", "A{seq:6}"},
		{"A{seq:6,hidden=1}", "A{seq:6,hidden=2}"},
		{"A{seq:6,hidden=1}", "A{seq:7,hidden=1}"},
		{"9{seq:3}", "{seq}"},
		{"{context:a:3}-{seq:6,per=context:a}", "{context:a:3}-{seq:6}"},
		{"{context:a:3}-{seq:6}", "{context:a:3}-{seq:6,per=context:a}"},
		{"A{seq:6}", "AB{seq:6}"},
		{"{context:a:3}{seq:6}", "{context:a:3}{seq:7}"},
	} {
		if _, err := Succeed(made(change[0]), made(change[1]), stamp); err == nil || !strings.Contains(err.Error(), "the template of n is "+change[0]+" and can't become "+change[1]) {
			t.Errorf("%s becomes %s: %v", change[0], change[1], err)
		}
	}
	for _, change := range [][2]string{{daily, daily}, {"A{seq:6}", "A{seq:7}"}, {"A{seq:6,hidden=1}", "B{seq:6,hidden=1}"}} {
		if _, err := Succeed(made(change[0]), made(change[1]), stamp); err != nil {
			t.Errorf("%s becomes %s: %v", change[0], change[1], err)
		}
	}
}

// If a generator changed between one counter and a counter for each value, its numbers could be equal to earlier ones.
func TestSucceedKeepsWhatIsCountedFor(t *testing.T) {
	made := func(per string) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{"n": {Kind: SegmentGenerator, Per: per}}
		return c
	}
	for _, change := range [][2]string{{"", "context:a"}, {"context:a", ""}, {"context:a", "context:b"}} {
		if _, err := Succeed(made(change[0]), made(change[1]), stamp); err == nil || !strings.Contains(err.Error(), "per of n is") {
			t.Errorf("%q becomes %q: %v", change[0], change[1], err)
		}
	}
	c := made("context:a")
	for name, d := range c.Tables {
		if d.Owner != "" {
			d.Stamped = map[string]string{"serial": "n"}
			c.Tables[name] = d
			break
		}
	}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "stamped by generator n, whose numbers are distinct for each value of a only") {
		t.Errorf("a stamped column: %v", err)
	}
}

// Generators that would fail at their first use are refused when they are declared or changed. Ones that are declared already
// don't prevent other changes.
func TestSucceedRefusesUnusableGenerators(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("n", 64)
	for _, c := range []struct{ generators, want string }{
		{"a: {kind: format, template: 'A{gene}{seq:6}'}", `generator a: template "A{gene}{seq:6}": part gene: the texts of a declared generator show the gene of a stamped row in one place: write {gene:4}`},
		{"a: {kind: format, template: '{context:shop:4}{gene:4}{seq:6}'}", "give parts in front of it a fixed length"},
		{"a: {kind: format, template: '{context:shop:4,exact}{gene:4}{seq:6}'}", ""},
		{"{a: {kind: buckets, server: 'r:1'}, b: {kind: format, of: [a], template: '{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8}'}}", "generator b: template \"{time:yyMMddHHmmssSSS}{context:shop:4}{seq:8}\": part seq: of a: its numbers are soon above 99999999, and the sequence has 8 digits: give it 13 at least, or leave `of` out"},
		{"{a: {kind: buckets, server: 'r:1'}, b: {kind: format, of: [a], template: 'A{seq:13}'}}", ""},
		{"{a: {kind: snowflake}, b: {kind: format, of: [a], template: 'A{seq:18}'}}", "give it 19 at least"},
		{"{a: {kind: snowflake}, b: {kind: format, of: [a], template: 'A{seq}'}}", ""},
		{"{a: {kind: buckets, server: 'r:1'}, c: {kind: queue, of: [a], bits: 4}, b: {kind: format, of: [c], template: 'A{seq:13}'}}", "generator b: template \"A{seq:13}\": part seq: of c: its numbers are soon above 9999999999999, and the sequence has 13 digits: give it 14 at least"},
		{"{a: {kind: segment}, b: {kind: format, of: [a], template: 'A{seq:7}'}}", "give it 8 at least"},
		{"{a: {kind: segment, start: 99999999}, b: {kind: format, of: [a], template: 'A{seq:8}'}}", "give it 9 at least"},
		{"a: {kind: format, template: 'A{seq:3}', start: 1000}", "start 1000 has 4 digits, and the sequence has 3"},
		{"{a: {kind: segment, ordered: true}, b: {kind: format, of: [a], ordered: true, template: 'A{seq:4}'}}", ""},
		{"{a: {kind: segment, max_step: 2000}, b: {kind: format, of: [a], template: 'A{seq:4}'}}", ""},
		{"{a: {kind: segment, servers: ['r:1', 'r:2'], max_step: 10}, b: {kind: format, of: [a], template: 'A{seq:5}'}}", "give it 6 at least"},
		{"{a: {kind: redis, server: 'r:1', keys: 1024}, b: {kind: format, of: [a], template: 'A{seq:6}'}}", "give it 7 at least"},
		{"{a: {kind: redis, servers: ['r:1'], cluster: true, keys: 6}, b: {kind: format, of: [a], template: 'A{seq:6}'}}", "give it 7 at least"},
		{"{a: {kind: memcached, servers: ['m:1', 'm:2']}, b: {kind: format, of: [a], template: 'A{seq:5}'}}", "give it 6 at least"},
		{"{a: {kind: row, shards: [s0]}, b: {kind: format, of: [a], template: 'A{seq:4}'}}", ""},
		{"{a: {kind: row, shards: [s0]}, d: {kind: auto_increment, shards: [s0, s1]}, c: {kind: ha, of: [a, d]}, b: {kind: format, of: [c], template: 'A{seq:3}'}}", "give it 4 at least"},
		{"a: {kind: format, template: 'A{seq:3}', min_step: 1000}", "a second process begins at 1001, and the sequence has 3 digits: give it 4 at least"},
		{"a: {kind: format, template: 'A{seq:2}'}", ""},
		{"a: {kind: segment, min_step: 5000000000}", "generator a: min_step 5000000000 is above 4294967296"},
		{"{" + long + ": {kind: memcached, server: 'm:1'}, c" + long[1:] + ": {kind: queue, of: [" + long + "]}, b" + long[1:] + ": {kind: queue, of: [c" + long[1:] + "]}}", "generator b" + long[1:] + ": it takes numbers from memcached under a key of 267 bytes"},
	} {
		next, err := Parse([]byte(string(text) + "generators:\n  " + c.generators + "\n"))
		if err != nil {
			t.Errorf("%s: %v", c.generators, err)
			continue
		}
		for _, old := range []*Cluster{nil, good(t)} {
			if _, err := Succeed(old, next, stamp); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: error is\n  %v\nand not\n  %s", c.generators, err, c.want)
			}
		}
		if _, err := Succeed(next, next, stamp); err != nil {
			t.Errorf("%s is declared already: %v", c.generators, err)
		}
	}
}

// Another server of a generator does not make one fail that is declared already, but more keys can.
func TestSucceedChecksTheUseOfWhatChanges(t *testing.T) {
	made := func(server string, keys int) *Cluster {
		c := good(t)
		c.Generators = map[string]Generator{
			"a": {Kind: RedisGenerator, Server: server, Keys: keys}, "b": {Kind: FormatGenerator, Template: "B{seq:4}", Of: []string{"a"}},
		}
		return c
	}
	for _, c := range []struct {
		old, next *Cluster
		refused   bool
	}{
		{made("r:1", 4), made("r:2", 4), false},
		{made("r:1", 3), made("r:1", 4), false},
		{made("r:1", 300), made("r:2", 300), false}, // too many, but declared
		{made("r:1", 4), made("r:1", 300), true},
		{made("r:1", 300), made("r:1", 301), true},
	} {
		if _, err := Succeed(c.old, c.next, stamp); (err != nil) != c.refused {
			t.Errorf("from %+v to %+v: %v", c.old.Generators["a"], c.next.Generators["a"], err)
		}
	}
}

func TestPlanWriteOfTheFirstCluster(t *testing.T) {
	c := good(t)
	w := PlanWrite(nil, c)
	want := map[string][]byte{}
	for key, text := range Encode(c) {
		want["declared/"+key] = text
	}
	want["history/0000000001"] = want["declared/map"]
	if !maps.EqualFunc(w.Puts, want, bytes.Equal) {
		t.Errorf("it puts %v", slices.Sorted(maps.Keys(w.Puts)))
	}
	if w.Deletes != nil {
		t.Errorf("it deletes %v", w.Deletes)
	}
	for key := range want {
		if seen, guarded := w.Guards[key]; !guarded || seen != 0 {
			t.Errorf("%s is guarded by revision %d, %v", key, seen, guarded)
		}
	}
}

func TestPlanWriteGuardsWhatItWrites(t *testing.T) {
	stored := map[string]Stored{}
	for i, key := range slices.Sorted(maps.Keys(Encode(good(t)))) {
		stored[key] = Stored{Encode(good(t))[key], int64(100 + i)}
	}
	next := good(t)
	delete(next.Tables, catalog.TableName{Schema: "shop", Name: "setting"})
	next.Users["carl"] = User{Secret: "users/carl"}
	w := PlanWrite(stored, next)
	if got := slices.Sorted(maps.Keys(w.Puts)); !slices.Equal(got, []string{"declared/settings", "declared/users/carl"}) {
		t.Errorf("it puts %v", got)
	}
	if !slices.Equal(w.Deletes, []string{"declared/tables/shop.setting"}) {
		t.Errorf("it deletes %v", w.Deletes)
	}
	want := map[string]int64{
		"declared/settings": stored["settings"].Revision, "declared/map": stored["map"].Revision,
		"declared/tables/shop.setting": stored["tables/shop.setting"].Revision, "declared/users/carl": 0,
	}
	if !maps.Equal(w.Guards, want) {
		t.Errorf("guards are %v, want %v", w.Guards, want)
	}
}

func TestPlanWriteKeepsHistory(t *testing.T) {
	stored := map[string]Stored{}
	for key, text := range Encode(good(t)) {
		stored[key] = Stored{text, 5}
	}
	next := good(t)
	next.Routes = routed(t, 2, "0xffff s1")
	w := PlanWrite(stored, next)
	if !bytes.Equal(w.Puts["history/0000000002"], w.Puts["declared/map"]) || len(w.Puts) != 3 {
		t.Errorf("it puts %v", slices.Sorted(maps.Keys(w.Puts)))
	}
	if seen, guarded := w.Guards["history/0000000002"]; !guarded || seen != 0 {
		t.Errorf("the history is guarded by revision %d, %v", seen, guarded)
	}
}

func TestHistoryIsInOrder(t *testing.T) {
	documents := map[string][]byte{"declared/map": []byte("no matter")}
	for _, version := range []int64{10, 9, 2} {
		documents[HistoryKey(version)] = router.Encode(routed(t, version, "0xffff s1"), stamp)
	}
	documents[HistoryKey(3)] = []byte("broken")
	versions, err := History(documents)
	if err == nil || !strings.Contains(err.Error(), "history/0000000003: ") {
		t.Errorf("error is %v", err)
	}
	var got []int64
	for _, v := range versions {
		got = append(got, v.Map.Version())
	}
	if !slices.Equal(got, []int64{2, 9, 10}) || versions[0].Stamp != stamp {
		t.Errorf("versions are %v", got)
	}
}

// IDs of one key version are either hidden or not. The declaration can't change from one to the other.
func TestSucceedRefusesToHideUnderAVersionInClear(t *testing.T) {
	name := catalog.TableName{Schema: "shop", Name: "test_order"}
	declared := func(number string, hidden bool) *Cluster {
		c := good(t)
		c.Tables = maps.Clone(c.Tables)
		d := c.Tables[name]
		id := *d.ID
		id.Hidden, d.ID, d.OrderNumber = hidden, &id, number
		c.Tables[name] = d
		return c
	}
	plain, beside, inPlace := declared("", false), declared("order_no", false), declared("", true)
	for _, change := range [][2]*Cluster{{plain, beside}, {beside, plain}, {plain, inPlace}, {inPlace, plain}, {beside, beside}, {inPlace, inPlace}} {
		if _, err := Succeed(change[0], change[1], stamp); err != nil {
			t.Error(err)
		}
	}
	for _, change := range [][2]*Cluster{{beside, inPlace}, {inPlace, beside}} {
		if _, err := Succeed(change[0], change[1], stamp); err == nil || !strings.Contains(err.Error(), "table shop.test_order: hidden IDs and IDs beside an order_number can't have one key version") {
			t.Error(err)
		}
	}
}

// While a table is imported, its placement can't be changed.
func TestSucceedLeavesImportedTablesAlone(t *testing.T) {
	name := catalog.TableName{Schema: "shop", Name: "old"}
	importing := func() *Cluster {
		c := good(t)
		c.Tables[name] = catalog.Declaration{Kind: catalog.Single, Shard: "s0"}
		var err error
		c.Routes, err = c.Routes.Step([]router.Move{{Job: "import-1/s1", Genes: c.Routes.GenesOf("s1"), From: "s0", To: "s1", Tables: []string{name.String()}}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	next := importing()
	delete(next.Tables, name)
	if _, err := Succeed(importing(), next, stamp); err == nil || !strings.Contains(err.Error(), "table shop.old is being imported") {
		t.Errorf("its declaration is taken away: %v", err)
	}
	next = importing()
	next.Tables[catalog.TableName{Schema: "shop", Name: "other"}] = catalog.Declaration{Kind: catalog.Global}
	if _, err := Succeed(importing(), next, stamp); err != nil {
		t.Errorf("another table: %v", err)
	}
}

func TestSucceedLeavesShardedTablesAloneWhileGenesMove(t *testing.T) {
	moving := func() *Cluster {
		c := good(t)
		var err error
		c.Routes, err = c.Routes.Step([]router.Move{{Job: "split-1", Genes: c.Routes.GenesOf("s1"), From: "s1", To: "s0"}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	name := catalog.TableName{Schema: "shop", Name: "new"}
	for d, want := range map[*catalog.Declaration]string{
		{Kind: catalog.Sharded, Owner: "owner"}: "table shop.new: job split-1 moves genes",
		{Kind: catalog.Global}:                  "",
	} {
		next := moving()
		next.Tables[name] = *d
		switch _, err := Succeed(moving(), next, stamp); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", d.Kind, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", d.Kind, err, want)
		}
	}
}

// A file doesn't state whether a look-up table is filled. The table stays filled unless it is declared for another column.
func TestAFilledLookUpTableStaysFilled(t *testing.T) {
	name := catalog.TableName{Schema: "shop", Name: "by_email"}
	declared := func(l catalog.LookupOf) *Cluster {
		c := good(t)
		c.Tables = maps.Clone(c.Tables)
		c.Tables[name] = catalog.Declaration{Kind: catalog.Sharded, Owner: catalog.LookupHash, Lookup: &l}
		return c
	}
	filled := catalog.LookupOf{Table: "users", Column: "email", Kept: true, Filled: true}
	old, err := Succeed(nil, declared(filled), stamp)
	if err != nil {
		t.Fatal(err)
	}
	if text := Format(old); bytes.Contains(text, []byte("filled")) || bytes.Contains(text, []byte("kept")) {
		t.Errorf("the file says whether it is filled:\n%s", text)
	}
	if text := Encode(old)[TableKey(name)]; !bytes.Contains(text, []byte("filled: true")) {
		t.Errorf("the document does not say that it is filled:\n%s", text)
	}
	file, err := Parse(Format(old))
	if err != nil {
		t.Fatal(err)
	}
	if first, err := Succeed(nil, file, stamp); err != nil || *first.Tables[name].Lookup != (catalog.LookupOf{Table: "users", Column: "email"}) {
		t.Errorf("a file alone declares %+v: %v", first.Tables[name].Lookup, err)
	}
	if next, err := Succeed(old, file, stamp); err != nil || *next.Tables[name].Lookup != filled {
		t.Errorf("after the file it is %+v: %v", next.Tables[name].Lookup, err)
	}
	other := declared(catalog.LookupOf{Table: "users", Column: "phone", Undecided: true})
	if next, err := Succeed(old, other, stamp); err != nil || *next.Tables[name].Lookup != (catalog.LookupOf{Table: "users", Column: "phone"}) {
		t.Errorf("for another column it is %+v: %v", next.Tables[name].Lookup, err)
	}
	emptied := declared(catalog.LookupOf{Table: "users", Column: "email"})
	if next, err := Succeed(old, emptied, stamp); err != nil || next.Tables[name].Lookup.Filled {
		t.Errorf("a table that is made again is %+v: %v", next.Tables[name].Lookup, err)
	}
}
