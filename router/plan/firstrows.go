package plan

import (
	"strconv"
	"strings"

	"locus/router"
	"locus/router/stmt"
)

// FirstRows describes how an UPDATE or DELETE with ORDER BY and LIMIT runs on several shards. A locking read on each shard returns
// its first rows in the order, up to the LIMIT. Merged, they show how many of the first rows of all shards each shard has. The rows
// are locked by then, so each shard changes as many of its own first rows.
type FirstRows struct {
	// Merge is how the answers to the locking reads are merged. Their only visible column is a constant. The others are the keys.
	Merge *Merge

	fields, from, by string // clauses of the locking read
	filter           stmt.Filter
	owners           *Owned
	reads            *Read
}

// firstRows returns how a change of one sharded table with ORDER BY and LIMIT runs on several shards, or nil if its rows can't be
// compared outside of a server.
func (sc *scope) firstRows(s *stmt.Statement, k *Keyed) *FirstRows {
	b := s.Blocks[0]
	if !limitDivides(s) || !b.HasFilter || b.Tables[0].Partitioned {
		return nil
	}
	n := &sc.nodes[0]
	o := &FirstRows{Merge: &Merge{Kind: Ordered, Limit: b.Limit}, filter: b.Filter, owners: k.Owned}
	fields, by := []string{"1"}, []string(nil)
	for _, item := range b.Order {
		if item.Constant {
			continue
		}
		if item.Column == nil {
			return nil
		}
		key, text, refusal := sortKey(b, sc, item)
		if refusal != nil {
			return nil
		}
		key.Column, key.Hidden = len(o.Merge.Keys), true
		o.Merge.Keys = append(o.Merge.Keys, key)
		fields = append(fields, text)
		column := quote(n.ref.Alias) + "." + quote(item.Column.Name)
		if item.Desc {
			column += " DESC"
		}
		by = append(by, column)
	}
	if len(by) == 0 {
		return nil
	}
	o.Merge.Hidden = len(by)
	o.fields, o.by = strings.Join(fields, ", "), strings.Join(by, ", ")
	o.from = quote(n.table.Schema) + "." + quote(n.table.Name) + " AS " + quote(n.ref.Alias)
	if !ascii(o.from + o.by) { // the text has the client's character set
		return nil
	}
	o.reads = &Read{Facts: Facts{Statement: &stmt.Statement{Kind: stmt.Select, Blocks: s.Blocks}, Leaves: LeavesNothing}}
	return o
}

// String names the columns that order the rows.
func (f *FirstRows) String() string { return strings.ReplaceAll(f.by, "`", "") }

// Reads returns the plan of the locking read, for its facts.
func (f *FirstRows) Reads() Plan { return f.reads }

// Filter returns where the condition of the statement is. ok is false if it has none.
func (f *FirstRows) Filter(v *Values) (from, to int, ok bool) {
	return v.Offset(f.filter.Open), v.Offset(f.filter.Close), f.filter.There
}

// LockingRead returns the query of the first rows of a shard in the order, without the foreign ones. condition is the text of the
// statement's condition, or nil.
func (f *FirstRows) LockingRead(condition []byte, foreign router.Foreign, limit uint64) []byte {
	text := selecting(f.fields, f.from, condition, f.owners, foreign)
	text = append(append(text, " ORDER BY "...), f.by...)
	text = strconv.AppendUint(append(text, " LIMIT "...), limit, 10)
	return append(text, " FOR UPDATE"...)
}

// selecting returns a SELECT of the rows that satisfy a condition, without the foreign ones. condition may be nil.
func selecting(fields, from string, condition []byte, owners *Owned, foreign router.Foreign) []byte {
	text := []byte("SELECT " + fields + " FROM " + from)
	word := " WHERE "
	if !foreign.Empty() {
		text = append(append(text, word...), owners.Without(foreign)...)
		word = " AND "
	}
	if condition != nil {
		text = append(append(append(text, word...), '('), condition...)
		text = append(text, "\n)"...) // a comment may end the condition
	}
	return text
}
