package stamp

import (
	"context"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/plan"
)

// form is how generated values are written.
type form uint8

const (
	literals form = iota
	placeholders
)

// Stamper stamps one statement at a time and reuses its buffers. The zero value is ready. It is not safe for concurrent
// use.
type Stamper struct {
	// Make generates a value for each row that requests one from a declared generator, for a column that the generator fills.
	// genes are the genes of the rows, in the width of the cluster. Make is nil if there are no generators. After an error no
	// value was used.
	Make func(ctx context.Context, generator string, genes []gene.Gene) ([]string, error)
	// Numbers generates numbers for AUTO_INCREMENT columns, or is nil. ZeroIsNumber reports that 0 requests no number
	// (NO_AUTO_VALUE_ON_ZERO). Unnumbered is why rows can't be numbered now, or empty.
	Numbers      Numbers
	ZeroIsNumber bool
	Unnumbered   string

	result Result

	in   *plan.Insertion // the current statement
	v    *plan.Values
	form form

	rows   []row
	groups []group
	byGene map[gene.Gene]int32 // index into groups
	counts []int               // number of rows by shard

	edits  []edit // replaceable values of a row, in order
	names  []byte // text of splices
	out    writer
	pieces []piece
	raw    []byte   // bytes of generated parameters
	raised []uint64 // each row's value for the AUTO_INCREMENT column, or asking
	made   []string // generated values, by row and then by stamped column
}

// keep is the size in bytes of the text buffer that a stamper keeps.
const keep = 4 << 10

// Release frees memory that only long statements need. The last result becomes invalid.
func (s *Stamper) Release() {
	if cap(s.out.text) > keep || cap(s.rows) > keep/64 {
		*s = Stamper{Make: s.Make, Numbers: s.Numbers}
	}
}

// stamp returns all possible refusals before it issues the first ID.
func (s *Stamper) stamp(ctx context.Context, p *plan.Stamped, v *plan.Values, m *router.Map, ids IDs, ring Ring, f form) (*Result, error) {
	s.reset(p.Insert, v, f)
	if err := s.number(ctx); err != nil { // a row's owner may be its number
		return nil, err
	}
	if err := s.read(m, ring()); err != nil {
		return nil, err
	}
	if err := s.issue(ctx, ids, ring); err != nil {
		return nil, err
	}
	if err := s.divide(m); err != nil {
		return nil, err
	}
	s.tellNumber()
	if err := s.make(ctx); err != nil {
		return nil, err
	}
	if err := s.write(p.Added); err != nil {
		return nil, err
	}
	s.deliver()
	return &s.result, nil
}

func (s *Stamper) reset(in *plan.Insertion, v *plan.Values, f form) {
	s.in, s.v, s.form = in, v, f
	s.result = Result{Shards: s.result.Shards[:0], Genes: s.result.Genes[:0]}
	s.rows, s.groups = s.rows[:0], s.groups[:0]
	clear(s.byGene)
	s.edits, s.names = s.edits[:0], s.names[:0]
	s.pieces, s.raw, s.made = s.pieces[:0], s.raw[:0], s.made[:0]
	s.out.reset(v.Lexed, f)
}

// piece is a shard's part of the output.
type piece struct {
	ShardText
	text, textEnd   int
	param, paramEnd int
}

// begin starts a shard's text.
func (s *Stamper) begin(shard, rows int) {
	s.out.rewind()
	s.pieces = append(s.pieces, piece{
		ShardText: ShardText{Shard: shard, Rows: rows}, text: len(s.out.text), param: len(s.out.params),
	})
}

// end completes a shard's text with the rest of the client's text.
func (s *Stamper) end() {
	s.out.upTo(len(s.v.Text))
	p := &s.pieces[len(s.pieces)-1]
	p.textEnd, p.paramEnd = len(s.out.text), len(s.out.params)
}

// deliver slices the output into the shards' texts. The buffers no longer grow by then.
func (s *Stamper) deliver() {
	for _, p := range s.pieces {
		p.Text = s.out.text[p.text:p.textEnd:p.textEnd]
		if s.form == placeholders {
			p.Params = s.out.params[p.param:p.paramEnd:p.paramEnd]
		}
		s.result.Shards = append(s.result.Shards, p.ShardText)
	}
}
