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

// Read is a client's read with everything needed to run it again. Nothing in it refers to the client's command.
type Read struct {
	Job      string
	From, To router.ShardName
	Genes    []gene.Gene // the read's genes, all of the job and owned by From
	Settings *backend.Settings
	Profile  backend.Profile
	Mode     stmt.Mode // the mode in which its text is parsed
	Text     []byte
	// Prepared reports whether it is executed with Params. Under are the settings that determine its text's meaning.
	Prepared bool
	Under    *backend.Settings
	Params   []wire.Param
	// Ordered reports whether an order of rows was requested. Cut reports whether LIMIT may choose among rows, so that only
	// their number is compared.
	Ordered, Cut bool

	source Answer
}

// isMirrored reports whether the read is still mirrored: its genes belong to the job, and to the source.
func (r *Read) isMirrored(m *router.Map) bool {
	for _, g := range r.Genes {
		move, moving := m.MoveWith(g)
		if !moving || move.Job != r.Job || move.Mirror == 0 || m.Shard(m.Lookup(g)) != r.From {
			return false
		}
	}
	return true
}

// mostText is the longest statement in bytes, parameters included, that is copied.
const mostText = 16 << 10

// Fits reports whether the read may be copied.
func (r *Read) Fits() bool {
	size := len(r.Text)
	for _, p := range r.Params {
		size += len(p.Value)
	}
	return size <= mostText
}

// detach copies everything that the read refers to.
func (r *Read) detach() {
	r.Text, r.Genes = bytes.Clone(r.Text), slices.Clone(r.Genes)
	params := make([]wire.Param, len(r.Params))
	for i, p := range r.Params {
		p.Value = bytes.Clone(p.Value)
		params[i] = p
	}
	r.Params = params
}

// same reports whether two reads are the same statement with the same values.
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

// alike reports whether two answers to the read are equal, as far as the read determines them.
func (r *Read) alike(a, b Answer) bool {
	if a.Long || b.Long || a.Code != b.Code || a.Rows != b.Rows || a.Columns != b.Columns {
		return false
	}
	return r.Cut || a.Set == b.Set
}

// reordered reports whether two alike answers differ in the order that the read requested.
func (r *Read) reordered(a, b Answer) bool { return r.Ordered && !r.Cut && a.Order != b.Order }

// never is the set of features that make an answer depend on when, where or in which session a read runs.
const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget |
	stmt.ReadsUserVariable | stmt.SetsUserVariable | stmt.ReadsInsertID | stmt.SetsInsertID | stmt.CalcFoundRows | stmt.ReadsRowCount |
	stmt.ReadsConnectionID | stmt.ReadsClock | stmt.Volatile | stmt.Windows

// Repeatable reports whether two servers with the same rows answer the read alike, and the read leaves nothing behind.
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
			if field.Aggregate == stmt.OtherAggregate { // the result of GROUP_CONCAT and similar functions depends on the order of rows
				return false
			}
		}
	}
	return true
}

// Shape returns how answers to a repeatable read are compared.
func Shape(f *plan.Facts) (ordered, cut bool) {
	return len(f.Statement.Blocks[0].Order) > 0, f.Statement.Features&stmt.Limited != 0
}
