package stamp

import (
	"context"

	"locus/idgen/cipher"
	"locus/router"
	"locus/router/gene"
	"locus/router/plan"
)

// form is how generated values are spelled.
type form uint8

const (
	literals form = iota
	placeholders
)

// Stamper stamps one statement at a time. The zero value is ready; what it has
// grown is reused. It is not safe for concurrent use.
type Stamper struct {
	result Result

	// The statement under way.
	in   *plan.Insertion
	v    *plan.Values
	form form

	rows   []row
	groups []group
	byGene map[gene.Gene]int32 // groups
	counts []int32             // rows by shard

	edits   []edit // of every row, in the order of the cells
	splices []splice
	names   []byte // what splices insert, where it isn't the plan's own text

	out    writer
	pieces []piece // of out, by shard
	raw    []byte  // bytes of generated values
}

// row is what is stamped into one row.
type row struct {
	shard int32
	group int32 // of those whose ID is generated, or -1
	id    idValue
}

// stamp works in an order that refuses whatever can be refused before the first
// ID is issued.
func (s *Stamper) stamp(ctx context.Context, p *plan.Plan, v *plan.Values, m *router.Map, ids IDs, ring *cipher.Ring, f form) (*Result, error) {
	s.reset(p.Insert, v, f)
	if err := s.read(m, ring); err != nil {
		return nil, err
	}
	if err := s.issue(ctx, ids, ring); err != nil {
		return nil, err
	}
	if s.in.Set {
		if err := s.writeSet(p); err != nil {
			return nil, err
		}
	} else {
		s.writeRows(p, m)
	}
	s.deliver()
	return &s.result, nil
}

func (s *Stamper) reset(in *plan.Insertion, v *plan.Values, f form) {
	s.in, s.v, s.form = in, v, f
	s.result = Result{Shards: s.result.Shards[:0], Genes: s.result.Genes[:0]}
	s.rows, s.groups = s.rows[:0], s.groups[:0]
	s.edits, s.splices, s.names = s.edits[:0], s.splices[:0], s.names[:0]
	s.pieces, s.raw = s.pieces[:0], s.raw[:0]
	s.out.reset(v, f)
	clear(s.byGene)
}

// deliver cuts what was written into the texts of the shards.
func (s *Stamper) deliver() {
	for _, p := range s.pieces {
		t := ShardText{Shard: p.shard, Rows: p.rows, Text: s.out.text[p.text:p.textEnd:p.textEnd]}
		if s.form == placeholders {
			t.Params = s.out.params[p.param:p.paramEnd:p.paramEnd]
		}
		s.result.Shards = append(s.result.Shards, t)
	}
}

// piece is a shard's text within what was written.
type piece struct {
	shard, rows     int
	text, textEnd   int
	param, paramEnd int
}

func (s *Stamper) begin(shard, rows int) {
	s.out.pos = 0
	s.pieces = append(s.pieces, piece{shard: shard, rows: rows, text: len(s.out.text), param: len(s.out.params)})
}

func (s *Stamper) end() {
	p := &s.pieces[len(s.pieces)-1]
	s.out.upTo(len(s.v.Text))
	p.textEnd, p.paramEnd = len(s.out.text), len(s.out.params)
}
