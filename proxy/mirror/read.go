package mirror

import (
	"bytes"
	"slices"

	"locus/idgen/gene"
	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// Read is a client's read, with all that it takes to run it again. It is a copy: nothing of the client's command is kept.
type Read struct {
	Job      string
	From, To router.ShardName
	Genes    []gene.Gene // that it concerns, all of the job's, and From's
	Settings *backend.Settings
	Profile  backend.Profile
	Mode     stmt.Mode // by which its text is read
	Text     []byte
	// Prepared: it is executed with Params. Under are the settings that decide what its text means.
	Prepared bool
	Under    *backend.Settings
	Params   []wire.Param
	// Ordered: rows are asked for in an order. Cut: LIMIT may choose among them, so that only their number is compared.
	Ordered, Cut bool

	source Answer
}

// concerned tells whether the read is still mirrored: its genes are the job's, and the source's.
func (r *Read) concerned(m *router.Map) bool {
	for _, g := range r.Genes {
		move, moving := m.MoveWith(g)
		if !moving || move.Job != r.Job || move.Mirror == 0 || m.Shard(m.Lookup(g)) != r.From {
			return false
		}
	}
	return true
}

// mostText is how long a statement may be, with its parameters, to be copied.
const mostText = 16 << 10

// Fits tells whether the read may be copied.
func (r *Read) Fits() bool {
	size := len(r.Text)
	for _, p := range r.Params {
		size += len(p.Value)
	}
	return size <= mostText
}

// own makes it a copy of its own.
func (r *Read) own() {
	r.Text, r.Genes = bytes.Clone(r.Text), slices.Clone(r.Genes)
	params := make([]wire.Param, len(r.Params))
	for i, p := range r.Params {
		p.Value = bytes.Clone(p.Value)
		params[i] = p
	}
	r.Params = params
}

// same tells whether it asks what another one does.
func (r *Read) same(o *Read) bool {
	if r.Job != o.Job || r.Settings != o.Settings || r.Prepared != o.Prepared || !bytes.Equal(r.Text, o.Text) || len(r.Params) != len(o.Params) {
		return false
	}
	for i, p := range r.Params {
		if p.Type != o.Params[i].Type || p.Flags != o.Params[i].Flags || (p.Value == nil) != (o.Params[i].Value == nil) || !bytes.Equal(p.Value, o.Params[i].Value) {
			return false
		}
	}
	return true
}

// alike tells whether two answers to the read are the same as far as it asks.
func (r *Read) alike(a, b Answer) bool {
	if a.Long || b.Long || a.Code != b.Code || a.Rows != b.Rows || a.Columns != b.Columns {
		return false
	}
	return r.Cut || a.Set == b.Set
}

// reordered tells whether two answers that are alike have their rows in another order than the other, where one is asked for.
func (r *Read) reordered(a, b Answer) bool { return r.Ordered && !r.Cut && a.Order != b.Order }

// never are what makes an answer depend on when, where or in which session a read runs.
const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget |
	stmt.ReadsUserVariable | stmt.SetsUserVariable | stmt.ReadsInsertID | stmt.SetsInsertID | stmt.CalcFoundRows | stmt.ReadsRowCount |
	stmt.ReadsConnectionID | stmt.ReadsClock | stmt.Volatile | stmt.Windows

// Repeatable tells a read that two servers with the same rows answer alike, and that leaves nothing behind.
func Repeatable(f *plan.Facts) bool {
	st := f.Statement
	if st.Kind != stmt.Select || f.Writes || f.Metadata || f.ReadsInsertID || f.Leaves != plan.LeavesNothing || st.Features&never != 0 || len(st.Blocks) == 0 {
		return false
	}
	for i, b := range st.Blocks {
		if i > 0 && b.Limited {
			return false
		}
		for _, field := range b.Fields {
			if field.Aggregate == stmt.OtherAggregate { // GROUP_CONCAT and its kin have an order of their own
				return false
			}
		}
	}
	return true
}

// Shape says how answers to a repeatable read are compared.
func Shape(f *plan.Facts) (ordered, cut bool) {
	return len(f.Statement.Blocks[0].Order) > 0, f.Statement.Features&stmt.Limited != 0
}
