package declared

import (
	"errors"
	"log/slog"
	"sync"
	"testing"

	"locus/router/catalog"
	"locus/router/cluster"
)

func words(t *testing.T, text string) catalog.Declaration {
	t.Helper()
	d, err := catalog.ParseWords(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTablesAreDeclaredOneByOne(t *testing.T) {
	t.Parallel()
	kv := open(t)
	tables := NewTables(kv, slog.New(slog.DiscardHandler))
	name := catalog.TableName{Schema: "shop", Name: "cart"}
	global, sharded := words(t, "global"), words(t, "owner=a id=b")
	if _, err := tables.Declare(t.Context(), name, global, "anna"); !errors.Is(err, cluster.ErrNotDeclared) {
		t.Errorf("without a cluster: %v", err)
	}
	if err := read(t, kv).become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	if changed, err := tables.Declare(t.Context(), name, sharded, "anna"); err != nil || !changed {
		t.Errorf("declared: %v, %v", changed, err)
	}
	if changed, err := tables.Declare(t.Context(), name, sharded, "anna"); err != nil || changed {
		t.Errorf("declared again: %v, %v", changed, err)
	}
	var otherwise *OtherwiseError
	if changed, err := tables.Declare(t.Context(), name, global, "anna"); !errors.As(err, &otherwise) || changed {
		t.Errorf("declared otherwise: %v, %v", changed, err)
	}
	if _, err := tables.Declare(t.Context(), catalog.TableName{Schema: "shop", Name: "far"}, words(t, "shard=s9"), "anna"); err == nil {
		t.Error("a shard that isn't there")
	}
	if err := tables.Withdraw(t.Context(), name, global, "anna"); err != nil || len(read(t, kv).Cluster.Tables) != 1 {
		t.Errorf("what another one declared was withdrawn: %v", err)
	}
	if err := tables.Withdraw(t.Context(), name, sharded, "anna"); err != nil || len(read(t, kv).Cluster.Tables) != 0 {
		t.Errorf("it was not withdrawn: %v", err)
	}
	if got := read(t, kv).Cluster.Routes.Version(); got != 3 { // a process that obeys this version knows that the table was declared and removed
		t.Errorf("route map version %d", got)
	}
}

// Concurrent declarations of tables don't overwrite each other.
func TestTablesThatAreDeclaredAtOnce(t *testing.T) {
	t.Parallel()
	kv := open(t)
	if err := read(t, kv).become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	tables := NewTables(kv, slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		all.Go(func() {
			if _, err := tables.Declare(t.Context(), catalog.TableName{Schema: "shop", Name: name}, words(t, "global"), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := read(t, kv).Cluster.TableNames(); len(got) != 4 {
		t.Errorf("declared are %v", got)
	}
}
