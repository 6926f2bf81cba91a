package catalog

import "locus/router/stmt"

// Listing is what one shard's server has: everything that a name may mean there,
// with the texts that say what else it reaches. It is immutable.
type Listing struct {
	// Tables are base tables, sequences and views.
	Tables []ListedTable
	// Programs are routines, triggers and events.
	Programs []Program
	// ForeignKeys are those of base tables.
	ForeignKeys []ForeignKey
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
}

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
}

// routine tells what a statement may call by name.
func (p *Program) routine() bool { return p.Type != trigger && p.Type != "EVENT" }

const trigger = "TRIGGER"
