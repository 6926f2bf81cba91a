package catalog

import (
	"cmp"
	"slices"
	"strings"

	"locus/router/stmt"
)

// Listing is what one shard's server has: everything that a name may mean there,
// with the texts that say what else it reaches. It is immutable.
type Listing struct {
	// Tables are base tables, sequences and views.
	Tables []ListedTable
	// Programs are routines, triggers and events.
	Programs []Program
	// ForeignKeys are those of base tables.
	ForeignKeys []ForeignKey

	finished bool
}

// Equal reports whether two listings list the same. Both are finished.
func (l *Listing) Equal(other *Listing) bool {
	if l == other || l == nil || other == nil {
		return l == other
	}
	return slices.EqualFunc(l.Tables, other.Tables, func(a, b ListedTable) bool {
		return a.TableName == b.TableName && a.Type == b.Type && a.Declares == b.Declares && a.Words == b.Words && a.Query == b.Query &&
			a.Invoker == b.Invoker && a.Hidden == b.Hidden && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Expressions, b.Expressions)
	}) && slices.EqualFunc(l.Programs, other.Programs, func(a, b Program) bool {
		return a.TableName == b.TableName && a.Type == b.Type && a.On == b.On && a.Body == b.Body && a.Mode == b.Mode && a.Hidden == b.Hidden
	}) && slices.EqualFunc(l.ForeignKeys, other.ForeignKeys, func(a, b ForeignKey) bool {
		return a.TableName == b.TableName && a.Name == b.Name && a.References == b.References && a.OnDelete == b.OnDelete && a.OnUpdate == b.OnUpdate &&
			slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Referred, b.Referred)
	})
}

// Without returns a copy of the listing without the tables, with all that belongs to them, and without the routines, whose names
// are compared in any letter case.
func (l *Listing) Without(tables, routines []TableName) *Listing {
	gone, unlisted := map[TableName]bool{}, map[TableName]bool{}
	for _, t := range tables {
		gone[t] = true
	}
	for _, r := range routines {
		unlisted[r.lower()] = true
	}
	rest := &Listing{
		Tables:      slices.DeleteFunc(slices.Clone(l.Tables), func(t ListedTable) bool { return gone[t.TableName] }),
		ForeignKeys: slices.DeleteFunc(slices.Clone(l.ForeignKeys), func(k ForeignKey) bool { return gone[k.TableName] }),
		Programs: slices.DeleteFunc(slices.Clone(l.Programs), func(p Program) bool {
			return p.Type == trigger && gone[TableName{p.Schema, p.On}] || p.routine() && unlisted[p.lower()]
		}),
	}
	if len(rest.ForeignKeys) == 0 { // as it is where none was read
		rest.ForeignKeys = nil
	}
	return rest
}

// FinishAfter is [Listing.Finish] with an earlier listing, which may be nil. What was found in its texts is not looked for again in texts
// that are the same.
func (l *Listing) FinishAfter(before *Listing) {
	if before != nil {
		l.reuse(before)
	}
	l.Finish()
}

// Finish makes the listing the same however it was read: it orders it by names, base tables before views, routines before triggers
// and events, and each table's expressions by their texts. It also reads the texts, so that a listing that shares most of its
// entries with an earlier one doesn't cost more than its new ones.
func (l *Listing) Finish() {
	l.finished = true
	l.readTexts()
	slices.SortFunc(l.Tables, func(a, b ListedTable) int {
		return cmp.Or(compareBool(!a.Base(), !b.Base()), a.TableName.Compare(b.TableName))
	})
	for i := range l.Tables {
		slices.Sort(l.Tables[i].Expressions)
	}
	slices.SortFunc(l.Programs, func(a, b Program) int {
		return cmp.Or(compareBool(!a.routine(), !b.routine()), compareBool(a.Type != trigger, b.Type != trigger),
			a.TableName.Compare(b.TableName), strings.Compare(a.Type, b.Type))
	})
	slices.SortFunc(l.ForeignKeys, func(a, b ForeignKey) int {
		return cmp.Or(a.TableName.Compare(b.TableName), strings.Compare(a.Name, b.Name))
	})
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// ListedTable is a table or view as information_schema lists it.
type ListedTable struct {
	TableName
	Type string // TABLE_TYPE: "BASE TABLE", "SYSTEM VERSIONED", "SEQUENCE", "VIEW"
	// Declares: its comment declares the table, by Words.
	Declares bool
	Words    string
	// Query is a view's; Invoker: it is run with the rights of who reads it.
	Query   string
	Invoker bool
	// Columns are those of a view, of servers whose texts of its query don't name them.
	Columns []string
	// Hidden is why nothing is known of a view's query; empty: it is.
	Hidden string
	// Expressions are those of defaults and of generated columns.
	Expressions []string

	read   *findings  // of a view's query; nil: not yet
	calls  expressive // of Expressions
	named  search     // in a view's query
	sought bool       // the listing's texts were searched for its name
}

// expressive tells what the expressions of a table do.
type expressive byte

const (
	unread    expressive = iota
	computes             // they only compute
	callsMore            // one calls a function that may do more
)

// Base tells whether it has rows of its own.
func (t *ListedTable) Base() bool { return t.Type != view }

const view = "VIEW"

// Program is a body that servers run: of a routine, a trigger or an event.
type Program struct {
	TableName
	Type string // "PROCEDURE", "FUNCTION", "PACKAGE", "PACKAGE BODY", "TRIGGER", "EVENT"
	On   string // a trigger's table, which is in the same schema
	Body string
	Mode stmt.Mode // in which it was defined
	// Hidden is why nothing is known of the body; empty: it is.
	Hidden string

	read   *findings // of the body; nil: not yet
	named  search    // in the body
	sought bool      // a routine: the listing's texts were searched for its name
}

// routine tells what a statement may call by name.
func (p *Program) routine() bool { return p.Type != trigger && p.Type != "EVENT" }

const trigger = "TRIGGER"
