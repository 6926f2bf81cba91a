package schema

import (
	"encoding/json"
	"testing"
	"time"

	"locus/router"
	"locus/router/catalog"
)

// TestVerifies checks that the schema of another process is accepted only if nothing can have changed since and both processes know the same.
func TestVerifies(t *testing.T) {
	found := func(column string) *Found {
		name := catalog.TableName{Schema: "shop", Name: "orders"}
		table := &liveTable{kind: "BASE TABLE", columns: []liveColumn{{Column: catalog.Column{Name: column}}}, leading: map[string]bool{"id": true, "owner": true}}
		return &Found{servers: map[router.ShardName]*server{"s0": {
			listing: &catalog.Listing{Tables: []catalog.ListedTable{{TableName: name, Type: "BASE TABLE"}}},
			queried: map[catalog.TableName]bool{name: true}, tables: map[catalog.TableName]*liveTable{name: table},
		}}}
	}
	start := time.Now()
	read := Verified{Marker: Marker{Counts: "a", Uptime: time.Hour, At: start}, Digest: found("id").Digest("s0")}
	text, err := json.Marshal(read)
	if err != nil {
		t.Fatal(err)
	}
	after := func(passed time.Duration) *Marker {
		return &Marker{Counts: "a", Uptime: time.Hour + passed, At: start.Add(passed)}
	}
	for name, c := range map[string]struct {
		found *Found
		now   *Marker
		want  bool
	}{
		"the same":             {found("id"), after(time.Minute), true},
		"another schema":       {found("number"), after(time.Minute), false},
		"a schema not read":    {nil, after(time.Minute), false},
		"long ago":             {found("id"), after(time.Hour), false},
		"a definition since":   {found("id"), &Marker{Counts: "b", Uptime: time.Hour, At: start}, false},
		"a restart since":      {found("id"), &Marker{Counts: "a", Uptime: time.Second, At: start.Add(time.Minute)}, false},
		"a shard that is down": {found("id"), nil, false},
	} {
		var v Verified
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		if c.found.Verifies("s0", v, c.now, 10*time.Minute) != c.want {
			t.Errorf("%s: verified is not %v", name, c.want)
		}
	}
	if found("id").Verifies("s0", Verified{}, after(0), time.Minute) || (*Found)(nil).Verifies("s0", Verified{}, &Marker{}, time.Minute) {
		t.Error("nothing verifies something")
	}
}
