package session

import (
	"fmt"
	"math"
	"slices"
	"time"

	"locus/proxy/exec"
	"locus/proxy/stamp"
	"locus/proxy/txn"
	"locus/proxy/wire"
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

// bulk inserts rows from elsewhere, as INSERT … VALUES would, in one transaction:
// the client's, or one of its own. Of a failure none of the rows remains.
type bulk struct {
	*Session
	r    *request
	head string // of each INSERT, up to VALUES
	tail string // behind the rows
	text []byte
	rows int // in text
	plan plan.Plan
	time time.Time

	inserted  uint64 // rows that were given
	total     exec.Totals
	firstID   uint64
	countFrom uint64 // what the OK tells: see stamp.Result
}

// bulk makes one that has no rows yet.
func (s *Session) bulk(r *request, head string) (*bulk, error) {
	b := &bulk{Session: s, r: r, head: head + " VALUES ", time: time.Now()}
	if s.conns.Reserved(txn.LockedTables) {
		return nil, &plan.Refusal{Code: plan.Unsupported, Message: "rows for several shards while this session has locked tables: end that first"}
	}
	return b, nil
}

// add gives room for a row, which write appends in parentheses.
func (b *bulk) add(write func([]byte) ([]byte, error)) error {
	if b.rows == 0 {
		b.text = append(b.text[:0], b.head...)
	} else {
		b.text = append(b.text, ',')
	}
	text, err := write(append(b.text, '('))
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
	rows := b.rows
	b.rows = 0
	b.text = append(b.text, b.tail...)
	lexed, args := new(stmt.Lexed), new(stmt.Args)
	lexed.Lex(b.text, b.vars.Mode)
	if b.plan == nil {
		p, err := plan.Make(lexed, b.planContext(b.r.snapshot))
		if err != nil {
			return err
		}
		b.plan = p
	}
	args.Reset(lexed, nil)
	r := onBehalf(b.r, b.plan, &plan.Values{Args: args, InsertID: b.vars.InsertID})
	parts, err := b.parts(r)
	if err != nil {
		return err
	}
	before := len(b.vars.Conditions)
	r.at = b.time
	total, err := b.runEach(r, parts)
	if err != nil {
		return err
	}
	if _, global := r.plan.(*plan.Global); global {
		total = b.oneCopy(total, len(parts), before)
	}
	b.number(r, total.InsertID)
	b.inserted += uint64(rows)
	b.total.Affected += total.Affected
	b.total.Warnings = uint16(min(int(b.total.Warnings)+int(total.Warnings), math.MaxUint16))
	return nil
}

// holds tells whether the session's character set has all letters of a text in UTF-8.
func (b *bulk) holds(text []byte) bool {
	charset, _ := b.vars.Settings.Names()
	most := byte(0xff)
	switch charset {
	case "ascii":
		most = 0x7f
	case "utf8", "utf8mb3":
		most = 0xef // four bytes begin above
	}
	return !slices.ContainsFunc(text, func(c byte) bool { return c > most })
}

// number notes what the OK is to count from, as long as no ID was issued.
func (b *bulk) number(r *request, insertID uint64) {
	if b.firstID != 0 {
		return
	}
	switch p := r.plan.(type) {
	case *plan.Stamped:
		b.countFrom = p.Insert.LastNumber(r.values)
	case *plan.Global:
		b.countFrom = p.Insert.LastNumber(r.values)
	default:
		b.firstID, b.countFrom = insertID, insertID
	}
}

// parts splits the rows by the shards that they go to.
func (b *bulk) parts(r *request) ([]exec.Part, error) {
	switch p := r.plan.(type) {
	case *plan.Stamped:
		result, err := b.stamped(r, p)
		if err == nil {
			err = p.Returned(len(result.Shards))
		}
		if err != nil {
			return nil, err
		}
		b.weigh(r, result.Genes, true)
		b.Counts.Stamped.Add(uint64(result.Generated))
		b.gave(result, p.Insert.Table.Hiding())
		parts := make([]exec.Part, 0, len(result.Shards))
		for _, text := range result.Shards {
			parts = append(parts, exec.Part{Shard: r.snapshot.Map.Shard(text.Shard), Text: text.Text})
		}
		return parts, nil
	case *plan.Global:
		if err := p.Alike(r.values); err != nil {
			return nil, err
		}
		var parts []exec.Part
		for _, shard := range r.snapshot.Catalog.Shards {
			parts = append(parts, exec.Part{Shard: shard, Text: b.text})
		}
		return parts, nil
	case *plan.OneShard:
		return []exec.Part{{Shard: p.Shard, Text: b.text}}, nil
	}
	return nil, &plan.Refusal{Code: plan.Unsupported, Message: "an INSERT of this kind from elsewhere"}
}

// gave notes the IDs that were issued for a batch.
func (b *bulk) gave(result *stamp.Result, hiding catalog.Hiding) {
	switch {
	case !result.HasID:
	case b.firstID == 0:
		b.firstID, b.countFrom = result.FirstID.Lo, result.CountFrom
	case hiding == catalog.InPlace:
		b.countFrom = 0
	}
}

// run inserts what f adds: all of it, or nothing.
func (b *bulk) run(f func() error) error {
	return b.conns.Atomically(func() error {
		if err := f(); err != nil {
			return err
		}
		return b.flush()
	})
}

// tell writes the OK of an INSERT.
func (b *bulk) tell(ignores bool) error {
	duplicates := max(0, int64(b.total.Affected)-int64(b.inserted))
	if ignores {
		duplicates = max(0, int64(b.inserted)-int64(b.total.Affected))
	}
	return b.say(fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", b.inserted, duplicates, b.total.Warnings))
}

// tellLoaded writes the OK of LOAD DATA.
func (b *bulk) tellLoaded(replaces bool) error {
	deleted, skipped := int64(0), max(0, int64(b.inserted)-int64(b.total.Affected))
	if replaces {
		deleted, skipped = max(0, int64(b.total.Affected)-int64(b.inserted)), 0
	}
	return b.say(fmt.Appendf(nil, "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d", b.inserted, deleted, skipped, b.total.Warnings))
}

func (b *bulk) say(words []byte) error {
	ok := wire.OK{AffectedRows: b.total.Affected, Warnings: b.total.Warnings, Info: words}
	if b.firstID != 0 && b.total.Affected > 0 {
		b.vars.InsertID = b.firstID
	}
	if b.total.Affected > 0 {
		ok.LastInsertID = b.countFrom
	}
	b.vars.FoundRows = b.inserted
	return b.done(ok)
}
