package declared

import (
	"errors"
	"log/slog"
	"testing"

	"locus/router/catalog"
)

func TestTablesAreRenamed(t *testing.T) {
	t.Parallel()
	kv := open(t)
	if err := read(t, kv).become(t.Context(), kv, sample(t, "0xffff s0")); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	cart, basket := catalog.TableName{Schema: "shop", Name: "cart"}, catalog.TableName{Schema: "shop", Name: "basket"}
	if _, err := NewTables(kv, log).Declare(t.Context(), cart, words(t, "owner=a id=b"), "anna"); err != nil {
		t.Fatal(err)
	}
	renames, list := Renames{kv, log}, []catalog.Rename{{From: cart, To: basket}}
	for _, again := range []bool{false, true} {
		resumed, changed, err := renames.Begin(t.Context(), list, "anna")
		if err != nil || resumed != again || changed == again {
			t.Fatalf("begun: resumed %t, changed %t, %v", resumed, changed, err)
		}
	}
	if err := NewTables(kv, log).Withdraw(t.Context(), cart, words(t, "owner=a id=b"), "bert"); !errors.As(err, new(*catalog.RenamingError)) {
		t.Errorf("withdrawn meanwhile: %v", err)
	}
	if err := renames.Undo(t.Context(), list, "anna"); err != nil || len(read(t, kv).Cluster.Tables) != 1 {
		t.Errorf("undone: %v", err)
	}
	if _, _, err := renames.Begin(t.Context(), list, "anna"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := renames.End(t.Context(), list, "anna"); err != nil {
			t.Fatal(err)
		}
	}
	c := read(t, kv).Cluster
	if len(c.Tables) != 1 || c.Tables[basket].Owner != "a" || c.CountersOf(basket) != cart || c.Routes.Version() != 6 {
		t.Errorf("declared are %v, counters %v, map version %d", c.Tables, c.Counters, c.Routes.Version())
	}
	if _, _, err := renames.Begin(t.Context(), list, "anna"); err == nil {
		t.Error("there is nothing left to rename")
	}
}
