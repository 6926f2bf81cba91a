package stamp

import (
	"fmt"

	"locus/idgen/cipher"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// idValue is a row's ID and the number that is made of it.
type idValue struct{ id, number orderid.ID }

// read looks at every row before any ID is issued: where it goes, whether it
// asks for an ID, and whether what it gives agrees.
func (s *Stamper) read(m *router.Map, ring *cipher.Ring) error {
	t := s.in.Table
	if t.OrderNumberColumn >= 0 && ring == nil {
		return fmt.Errorf("stamp %s: its column %s holds order numbers, and there is no key ring to make them with: name one in the configuration as `key_ring`",
			t.TableName, t.Columns[t.OrderNumberColumn].Name)
	}
	var err error
	if s.result.Genes, err = s.in.Genes(s.v, s.result.Genes); err != nil {
		return err
	}
	for i, g := range s.result.Genes {
		r := row{shard: int32(m.Lookup(g)), group: -1}
		if t.IDColumn >= 0 {
			if err := s.readID(i, &r, ring); err != nil {
				return err
			}
		}
		s.rows = append(s.rows, r)
	}
	return nil
}

// readID reads a given ID, or notes that one is to be issued.
func (s *Stamper) readID(i int, r *row, ring *cipher.Ring) error {
	t := s.in.Table
	if s.asks(StampedAt{s.in.ID}, i) {
		if number := s.in.OrderNumber; number >= 0 && !s.asks(StampedAt{number}, i) {
			return mismatch("row %d gives the order number %s without its ID: give both, or leave both out",
				i+1, s.in.Value(s.v, i, number))
		}
		g, err := s.in.LayoutGene(s.v, i)
		if err != nil {
			return fmt.Errorf("stamp %s: row %d: the owner's value: %w", t.TableName, i+1, err)
		}
		r.group = s.join(g)
		return nil
	}
	var err error
	if r.id.id, err = idOf(t.Layout, s.in.Value(s.v, i, s.in.ID)); err != nil {
		return fmt.Errorf("stamp %s: row %d: %w", t.TableName, i+1, err)
	}
	return s.readNumber(i, r, ring)
}
