package exec

import (
	"math"
	"slices"
	"time"

	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Rows that don't stand in an INSERT's text are inserted in batches: of so many
// rows, or as many as make so long a text.
const (
	bulkRows  = 1000
	bulkBytes = 256 << 10
)

// Insertion is the INSERT that rows from elsewhere are written into.
type Insertion struct {
	Head string // up to VALUES
	Tail string // behind the rows
	In   plan.Context
}

// Inserted is what the client is told of it.
type Inserted struct {
	Rows uint64 // that were given
	Totals
	FirstID   uint64
	CountFrom uint64 // what the OK tells: see stamp.Result
}

// Add takes a row, which is appended as it stands in the parentheses of VALUES.
type Add func(row func(out []byte) ([]byte, error)) error

// bulk is an insertion under way.
type bulk struct {
	*Request
	Insertion
	Inserted
	text   []byte
	rows   int // in text
	plan   plan.Plan
	stamps *stamp.Result // of the rows in text; nil: none are stamped
	at     time.Time
}

// Insert inserts all rows that are added, or none, as INSERT … VALUES would: in the
// client's transaction, or one of its own.
func (r *Request) Insert(as Insertion, rows func(Add) error) (Inserted, error) {
	if r.Conns.Reserved(txn.LockedTables) {
		return Inserted{}, &plan.Refusal{Code: plan.Unsupported, Message: "rows for several shards while this session has locked tables: end that first"}
	}
	b := &bulk{Request: r, Insertion: as, at: time.Now()}
	err := r.Conns.Atomically(func() error {
		if err := rows(b.add); err != nil {
			return err
		}
		return b.flush()
	})
	return b.Inserted, err
}

func (b *bulk) add(row func([]byte) ([]byte, error)) error {
	if b.rows == 0 {
		b.text = append(append(b.text[:0], b.Head...), " VALUES "...)
	} else {
		b.text = append(b.text, ',')
	}
	text, err := row(append(b.text, '('))
	if err != nil {
		return err
	}
	b.text = append(text, ')')
	b.rows++
	if b.rows < bulkRows && len(b.text) < bulkBytes {
		return nil
	}
	return b.flush()
}

// flush inserts the rows of the text.
func (b *bulk) flush() error {
	if b.rows == 0 {
		return nil
	}
	if !b.holds(b.text) {
		return &plan.Refusal{Code: plan.Unsupported, Message: "rows from elsewhere with letters that this session's character set has not, in which they would be sent: use SET NAMES utf8mb4"}
	}
	before := int(b.Rows)
	b.Rows += uint64(b.rows)
	b.rows = 0
	b.text = append(b.text, b.Tail...)
	lexed := new(stmt.Lexed)
	lexed.Lex(b.text, b.Vars.Mode)
	if b.plan == nil {
		p, err := plan.Make(lexed, b.In)
		if err != nil {
			return err
		}
		b.plan = p
	}
	values := &plan.Values{Args: &stmt.Args{Lexed: lexed}, InsertID: b.Vars.InsertID}
	parts, err := b.parts(values, before)
	if err != nil {
		return err
	}
	all := b.part(b.plan, values)
	all.At = b.at
	total, err := all.Change(parts)
	if err != nil {
		return err
	}
	if err := b.gave(values, &total); err != nil {
		return err
	}
	b.number(values, total.InsertID)
	b.Affected += total.Affected
	b.Duplicates, b.Unaffected = b.Duplicates+total.Duplicates, b.Unaffected+total.Unaffected
	b.Warn(total.Warnings)
	return nil
}

// Warn adds warnings.
func (i *Inserted) Warn(n uint16) { i.Warnings = uint16(min(int(i.Warnings)+int(n), math.MaxUint16)) }

// holds tells whether the session's character set has all letters of a text in UTF-8.
func (b *bulk) holds(text []byte) bool {
	charset, _ := b.Vars.Settings.Names()
	most := byte(0xff)
	switch charset {
	case "ascii":
		most = 0x7f
	case "utf8", "utf8mb3":
		most = 0xef // four bytes begin above
	}
	return !slices.ContainsFunc(text, func(c byte) bool { return c > most })
}

// parts splits the rows by the shards that they go to. before is the number of the statement's rows that were inserted before.
func (b *bulk) parts(v *plan.Values, before int) (parts []Part, err error) {
	switch p := b.plan.(type) {
	case *plan.Stamped:
		result, err := b.stampPart(p, v)
		if err != nil {
			return nil, err
		}
		b.stamps = result
		for _, text := range result.Shards {
			rows := b.stamper.RowsOf(text.Shard)
			for i := range rows {
				rows[i] += before
			}
			parts = append(parts, Part{Shard: b.Map.Shard(text.Shard), Text: text.Text, Rows: rows})
		}
		return parts, nil
	case *plan.Global:
		if err := p.Alike(v); err != nil || p.Insert.Numbered() == nil {
			return Everywhere(b.Catalog.Shards, b.text), err
		}
		result, err := b.StampCopies(b.Work.Part(p, v), p)
		if err != nil {
			return nil, err
		}
		b.stamps = result
		return Everywhere(b.Catalog.Shards, result.Shards[0].Text), nil
	case *plan.OneShard:
		return []Part{{Shard: p.Shard, Text: b.text}}, nil
	}
	return nil, &plan.Refusal{Code: plan.Unsupported, Message: "an INSERT of this kind from elsewhere"}
}

// gave notes the IDs that were issued for a batch and that rows have.
func (b *bulk) gave(v *plan.Values, total *Totals) error {
	result := b.stamps
	if b.stamps = nil; result == nil || !result.HasID {
		return nil
	}
	var in *plan.Insertion
	switch p := b.plan.(type) {
	case *plan.Stamped:
		in = p.Insert
	case *plan.Global:
		in = p.Insert
	}
	if b.FirstID != 0 {
		if in.Table.Hiding() == catalog.InPlace {
			b.CountFrom = 0
		}
		return nil
	}
	first, err := b.FirstInserted(b.Work.Part(b.plan, v), in, result, total)
	if err == nil && first != nil {
		b.FirstID, b.CountFrom = first.ID.Lo, CountFrom(result, first)
	}
	return err
}

// number notes what the OK is to count from, as long as no ID was issued.
func (b *bulk) number(v *plan.Values, insertID uint64) {
	if b.FirstID != 0 {
		return
	}
	switch p := b.plan.(type) {
	case *plan.Stamped:
		b.CountFrom = p.Insert.LastNumber(v)
	case *plan.Global:
		b.CountFrom = p.Insert.LastNumber(v)
	default:
		b.FirstID, b.CountFrom = insertID, insertID
	}
}
