package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/phase"
	"locus/router"
	"locus/router/catalog"
)

var imported = catalog.TableName{Schema: "shop", Name: "old"}

func newImport(t *testing.T) *Job {
	t.Helper()
	m, err := router.New(gene.W16, 1, []router.Entry{{Bound: 0x3fff, Shard: "s0"}, {Bound: 0x7fff, Shard: "s1"}, {Bound: 0xffff, Shard: "s2"}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := catalog.ParseWords("owner=a id=b version=c")
	if err != nil {
		t.Fatal(err)
	}
	shards := []router.ShardName{"s0", "s1", "s2", "s3"}
	j, err := NewImport("import-1", "s0", m, shards, map[catalog.TableName]catalog.Declaration{imported: d}, "anna", "", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewImport("import-1", "s0", mustEqual(t, "s0"), shards, j.Import.Tables, "anna", "", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "locus table add") {
		t.Errorf("of a shard that owns all genes: %v", err)
	}
	return j
}

func mustEqual(t *testing.T, names ...router.ShardName) *router.Map {
	t.Helper()
	m, err := router.Equal(gene.W16, names)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestImport writes and reads the record of an import.
func TestImport(t *testing.T) {
	j := newImport(t)
	j.Import.Declared = []catalog.TableName{imported}
	j, more := j.Making(map[router.ShardName][]catalog.TableName{"s3": {imported}}, map[router.ShardName][]catalog.TableName{"s0": {imported}}, "mover", time.Unix(2, 0))
	if !more {
		t.Error("it makes nothing")
	}
	if again, more := j.Making(map[router.ShardName][]catalog.TableName{"s3": {imported}}, nil, "mover", time.Unix(2, 0)); more || len(again.MadeBy("s3")) != 1 {
		t.Errorf("the same again: %v, %v", more, again.MadeBy("s3"))
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Job)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read.Import, j.Import) || read.Target() != "s1,s2" || len(read.Legs()) != 2 || read.Legs()[1].ID != "import-1/s2" {
		t.Errorf("read again: %+v, %s", read.Import, text)
	}
	if d := read.Former()[imported]; d.Kind != catalog.Single || d.Shard != "s0" {
		t.Errorf("it was %+v", d)
	}
}

// TestAnImportIsWhole: all tables of an import change hands at once. Its fence pauses statements on the tables,
// and during a rollback on genes as well.
func TestAnImportIsWhole(t *testing.T) {
	j := newImport(t)
	j.State.Phase, j.State.Announced, j.State.Copied, j.State.Verified = phase.Ready, true, true, true
	for _, o := range []Order{CutOver(50, 100, 0, PauseThen), CutOver(100, 5, time.Minute, PauseThen), NextStep(5)} {
		if _, err := j.Told(o, "anna", time.Unix(2, 0)); err == nil || !strings.Contains(err.Error(), "at once") {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
	if _, err := j.Told(CutOver(100, 100, 0, PauseThen), "anna", time.Unix(2, 0)); err != nil {
		t.Error(err)
	}
	for _, v := range j.Held(j.Genes, true) {
		if !v.HoldsTables || !v.Held.Empty() {
			t.Errorf("forward: %s", v)
		}
	}
	for _, v := range j.Held(j.Genes, false) {
		if !v.HoldsTables || !v.Held.Equal(v.Genes) {
			t.Errorf("back: %s", v)
		}
	}
}

// TestOutside: an import from a server outside of the cluster goes to all shards, and its record contains the
// name of a secret.
func TestOutside(t *testing.T) {
	of := newImport(t)
	m := mustEqual(t, "s0", "s1")
	from := Outside{Address: "10.0.0.9:3306", User: "locus", Secret: "outside/old", TLS: "verify", CA: "outside/ca"}
	j, err := NewOutside("import-2", from, m, []router.ShardName{"s0", "s1", "s2"}, of.Import.Tables, "anna", "", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Job)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if *read.Outside() != from || len(read.Legs()) != 2 || read.Target() != "s0,s1" || read.Source() != from.Address || len(read.Import.Shards) != 3 {
		t.Errorf("read again: %+v, %s", read.Import, text)
	}
	if d := read.Single()[imported]; d.Kind != catalog.Outside || read.Former()[imported].Kind != "" {
		t.Errorf("it is %+v meanwhile, and was %+v", d, read.Former()[imported])
	}
	if _, err := m.Step(read.Moves()); err != nil {
		t.Error(err)
	}
	for want, bad := range map[string]Outside{
		"host:port": {Address: "old", User: "locus", Secret: "s"}, "user": {Address: "old:3306", Secret: "s"}, "secret": {Address: "old:3306", User: "locus"},
		"off, on and verify": {Address: "old:3306", User: "locus", Secret: "s", TLS: "yes"}, "tls verify": {Address: "old:3306", User: "locus", Secret: "s", TLS: "on", CA: "ca"},
	} {
		if _, err := NewOutside("import-2", bad, m, []router.ShardName{"s0", "s1"}, of.Import.Tables, "anna", "", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestGlobal: an import whose tables become global goes to all shards, whatever their genes, and streams run
// only until the switch.
func TestGlobal(t *testing.T) {
	tables := map[catalog.TableName]catalog.Declaration{imported: {Kind: catalog.Global}}
	m := mustEqual(t, "s0")
	shards := []router.ShardName{"s0", "s1", "s2"}
	j, err := NewImport("import-3", "s0", m, shards, tables, "anna", "", time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	read := new(Job)
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read.Import.Tables, tables) || !read.Import.Global() || read.Target() != "s1,s2" || len(read.Legs()) != 2 {
		t.Errorf("read again: %+v, %s", read.Import, text)
	}
	next, err := m.Step(read.Held(read.Genes, false))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := router.Decode(router.Encode(next, router.Stamp{}))
	if err != nil || !again.Moving().Equal(gene.NewSet(gene.Range{First: router.Unsharded, Last: router.Unsharded})) || !again.Held().Equal(again.Moving()) || again.HoldsGenes() {
		t.Errorf("the map moves %s and holds %s: %v", again.Moving(), again.Held(), err)
	}
	for _, of := range []struct {
		at      phase.Phase
		cut     int
		forward bool
	}{{phase.Ready, 0, true}, {phase.Cutting, 0, true}, {phase.Cut, 1, false}, {phase.RollingBack, 1, false}, {phase.Retiring, 1, false}} {
		j.State.Phase, j.State.Cut, j.State.Reversible = of.at, of.cut, true
		if forward, back := j.Streams(); forward != of.forward || back {
			t.Errorf("%s: streams run forward %v and back %v", of.at, forward, back)
		}
	}
	for want, bad := range map[string]map[catalog.TableName]catalog.Declaration{
		"one after the other": {imported: {Kind: catalog.Global}, {Schema: "shop", Name: "other"}: {Kind: catalog.Sharded, Owner: "a"}},
	} {
		if _, err := NewImport("import-4", "s0", mustEqual(t, "s0", "s1"), shards, bad, "anna", "", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := NewImport("import-5", "s0", m, shards[:1], tables, "anna", "", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "only one") {
		t.Errorf("of the only shard: %v", err)
	}
}
