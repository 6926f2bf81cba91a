package catalog

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"locus/router/stmt"
)

// Listing contains all objects of one shard's server: everything that a name may mean there, with the texts that define what the object refers to. It
// is immutable once it is finished.
type Listing struct {
	// Tables are base tables, sequences and views.
	Tables []ListedTable
	// Programs are routines, triggers and events.
	Programs []Program
	// ForeignKeys are the foreign keys of base tables.
	ForeignKeys []ForeignKey

	finished bool
	views    int                          // number of the tables before the views
	schemas  map[string]bool              // of tables and routines, in lower case
	mixed    map[TableName][]*ListedTable // by the names in lower case, the tables whose names contain upper-case letters
}

// Equal reports whether two listings have the same content. Both must be finished. Either may be nil.
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

// Without returns a copy of the listing without the given tables, everything that belongs to them, and the given routines. Names of routines are
// compared in any letter case.
func (l *Listing) Without(tables, routines []TableName) *Listing {
	gone, unlisted := map[TableName]bool{}, map[TableName]bool{}
	for _, t := range tables {
		gone[t] = true
	}
	for _, r := range routines {
		unlisted[r.lower()] = true
	}
	rest := &Listing{
		Tables:      make([]ListedTable, 0, len(l.Tables)+len(tables)), // the caller may add the current tables
		ForeignKeys: slices.DeleteFunc(slices.Clone(l.ForeignKeys), func(k ForeignKey) bool { return gone[k.TableName] }),
		Programs: slices.DeleteFunc(slices.Clone(l.Programs), func(p Program) bool {
			return p.Type == trigger && gone[TableName{p.Schema, p.On}] || p.routine() && unlisted[p.lower()]
		}),
	}
	for i := range l.Tables {
		if !gone[l.Tables[i].TableName] {
			rest.Tables = append(rest.Tables, l.Tables[i])
		}
	}
	if len(rest.ForeignKeys) == 0 { // the listing may have been made without reading any
		rest.ForeignKeys = nil
	}
	return rest
}

// FinishAfter is [Listing.Finish] with an earlier listing, which may be nil. It reuses what was found in the earlier listing's texts for texts that
// are the same.
func (l *Listing) FinishAfter(before *Listing) {
	if before != nil {
		l.reuse(before)
	}
	l.Finish()
}

// Finish gives the listing a form that doesn't depend on how it was read. It sorts the objects by name, base tables before views, and routines before
// triggers and events. It sorts each table's expressions by text. Finish also reads the texts. So a listing that shares most of its entries with an
// earlier one costs only as much as its new entries.
func (l *Listing) Finish() {
	l.finished = true
	l.readTexts()
	slices.SortFunc(l.Tables, func(a, b ListedTable) int {
		return cmp.Or(compareBool(!a.Base(), !b.Base()), a.TableName.Compare(b.TableName))
	})
	l.index()
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

// index fills what depends on the order and the names of the tables.
func (l *Listing) index() {
	l.views, l.schemas, l.mixed = len(l.Tables), map[string]bool{}, map[TableName][]*ListedTable{}
	last := ""
	for i := range l.Tables {
		t := &l.Tables[i]
		if !t.Base() {
			l.views = min(l.views, i)
		}
		if t.Schema != last || i == 0 {
			last = t.Schema
			l.schemas[strings.ToLower(last)] = true
		}
		if low := t.lower(); low != t.TableName {
			l.mixed[low] = append(l.mixed[low], t)
		}
	}
	for i := range l.Programs {
		if p := &l.Programs[i]; p.routine() {
			l.schemas[strings.ToLower(p.Schema)] = true
		}
	}
}

// table returns a table or view of a finished listing, or nil.
func (l *Listing) table(name TableName) *ListedTable {
	if i := l.position(name); i >= 0 {
		return &l.Tables[i]
	}
	return nil
}

// position returns the position of a table or view in Tables, or -1.
func (l *Listing) position(name TableName) int {
	if i, is := sort.Find(l.views, func(i int) int { return name.Compare(l.Tables[i].TableName) }); is {
		return i
	}
	if i, is := sort.Find(len(l.Tables)-l.views, func(i int) int { return name.Compare(l.Tables[l.views+i].TableName) }); is {
		return l.views + i
	}
	return -1
}

// tablesOf returns the tables and views of a finished listing that a name in lower case may denote.
func (l *Listing) tablesOf(low TableName) (tables []*ListedTable) {
	if t := l.table(low); t != nil {
		tables = append(tables, t)
	}
	return append(tables, l.mixed[low]...)
}

// referred returns the positions of the views, and of the tables that a text names, that have a trigger, or that are special, in order.
func (l *Listing) referred() (positions []int) {
	add := func(name TableName) {
		if i := l.position(name); i >= 0 {
			positions = append(positions, i)
		}
	}
	addNamed := func(s *search) {
		for _, low := range s.names {
			for _, t := range l.tablesOf(low) {
				add(t.TableName)
			}
		}
	}
	for i := range l.Tables {
		if t := &l.Tables[i]; i >= l.views || t.special() {
			positions = append(positions, i)
			addNamed(&t.named)
		}
	}
	for i := range l.Programs {
		p := &l.Programs[i]
		addNamed(&p.named)
		if p.Type == trigger {
			add(TableName{p.Schema, p.On})
		}
	}
	slices.Sort(positions)
	return slices.Compact(positions)
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
	// Declares: the table's comment contains a declaration, which is Words.
	Declares bool
	Words    string
	// Query is the query of a view. Invoker: the view runs with the privileges of the account that reads it.
	Query   string
	Invoker bool
	// Columns are the columns of a view, if the server's text of its query doesn't name them.
	Columns []string
	// Hidden is the reason why a view's query is unknown. It is empty if the query is known.
	Hidden string
	// Expressions are the expressions of defaults and of generated columns.
	Expressions []string

	read   *findings  // facts of a view's query; nil: not read yet
	calls  expressive // of Expressions
	named  search     // in a view's query
	sought bool       // whether the listing's texts were searched for its name
}

// expressive describes the effects that the expressions of a table can have.
type expressive byte

const (
	unread    expressive = iota
	computes             // they only compute
	callsMore            // one of them calls a function that may do more than compute
)

// Base reports whether the table has rows of its own, so it is no view.
func (t *ListedTable) Base() bool { return t.Type != view }

// special reports whether reading or writing the table may do more than that: it is a sequence, or computes a column by a function that may
// leave state on the connection.
func (t *ListedTable) special() bool { return t.Type == "SEQUENCE" || t.calls == callsMore }

const view = "VIEW"

// Program is a body that servers execute: the body of a routine, a trigger or an event.
type Program struct {
	TableName
	Type string // "PROCEDURE", "FUNCTION", "PACKAGE", "PACKAGE BODY", "TRIGGER", "EVENT"
	On   string // a trigger's table, which is in the same schema
	Body string
	Mode stmt.Mode // the sql_mode in which it was defined
	// Hidden is the reason why the body is unknown. It is empty if the body is known.
	Hidden string

	read   *findings // facts of the body; nil: not read yet
	named  search    // in the body
	sought bool      // of a routine: whether its name was searched for in the listing's texts
}

// routine reports whether a statement can call the program by name.
func (p *Program) routine() bool { return p.Type != trigger && p.Type != "EVENT" }

const trigger = "TRIGGER"
