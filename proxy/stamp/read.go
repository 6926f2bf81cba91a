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

// row is the state of one row.
type row struct {
	shard      int
	asked      askedFor
	group      int32 // the group of rows that get an ID together; -1 if the client gave the ID
	layout     orderid.Layout
	id, number orderid.ID
}

// askedFor is a set of plan.Stamp: the values that a row requests.
type askedFor uint32

func (a askedFor) has(s plan.Stamp) bool { return a&(1<<s) != 0 }

// read determines each row's shard and requested values, and validates the values it gives.
func (s *Stamper) read(m *router.Map, ring *cipher.Ring) error {
	t := s.in.Table
	if err := s.hides(ring); err != nil {
		return err
	}
	genes, err := s.in.Genes(s.v, s.result.Genes)
	if err != nil {
		return err
	}
	s.result.Genes = genes
	for i, g := range genes {
		if _, _, divided := m.Sides(g); divided {
			if reason := s.in.CheckSide(s.v, i, g); reason != nil {
				return reason
			}
		}
		s.rows = append(s.rows, row{shard: m.Lookup(g), asked: s.asked(i), group: -1})
		if t.IDColumn < 0 {
			continue
		}
		if err := s.readID(i, ring); err != nil {
			return err
		}
	}
	return nil
}

// hides returns an error if order numbers are needed but there is no key.
func (s *Stamper) hides(ring *cipher.Ring) error {
	t := s.in.Table
	switch {
	case ring != nil || t.Hiding() == catalog.InClear:
		return nil
	case t.Hiding() == catalog.InPlace:
		return fmt.Errorf("stamp %s: its IDs are hidden and there is no key ring to hide them with: name one in the configuration as key_ring", t.TableName)
	}
	return fmt.Errorf("stamp %s: column %s holds order numbers and there is no key ring to make them with: name one in the configuration as key_ring",
		t.TableName, t.Columns[t.OrderNumberColumn].Name)
}

// asked returns the values that a row requests, by omitting the column or by the value in it.
func (s *Stamper) asked(i int) askedFor {
	var a askedFor
	for stamp, at := range s.in.Places() {
		if plan.Stamp(stamp) == plan.StampNumber {
			if len(s.v.Numbers) > 0 && s.v.Numbers[i] != 0 {
				a |= 1 << stamp
			}
			continue
		}
		if at < 0 || plan.AsksForValue(s.in.Value(s.v, i, at)) {
			a |= 1 << stamp
		}
	}
	return a
}

// readID reads the ID that a row gives. Otherwise it adds the row to a group that gets IDs.
func (s *Stamper) readID(i int, ring *cipher.Ring) error {
	r, t := &s.rows[i], s.in.Table
	if !r.asked.has(plan.StampID) {
		layout, id, err := s.idOf(t.IDColumn, s.in.Value(s.v, i, s.in.ID))
		if err != nil {
			return refuse(plan.GeneMismatch, "row %d: %v", i+1, err)
		}
		r.layout, r.id = layout, id
		return s.readNumber(i, ring)
	}
	if t.OrderNumberColumn >= 0 && !r.asked.has(plan.StampOrderNumber) {
		return refuse(plan.NumberMismatch, "row %d: an order number is given and its ID is not: leave %s out and it is generated",
			i+1, t.Columns[t.OrderNumberColumn].Name)
	}
	g, err := s.in.LayoutGene(s.v, i)
	if err != nil {
		return refuse(plan.OwnerUnusable, "row %d: %v", i+1, err)
	}
	r.group = s.join(g)
	return nil
}

// readNumber validates the order number that comes with a given ID, or generates it.
func (s *Stamper) readNumber(i int, ring *cipher.Ring) error {
	r, t := &s.rows[i], s.in.Table
	if t.OrderNumberColumn < 0 {
		return nil
	}
	if r.asked.has(plan.StampOrderNumber) {
		number, err := ring.Encode(r.layout, r.id)
		if err != nil {
			return refuse(plan.NumberMismatch, "row %d: %v", i+1, err)
		}
		r.number = number
		return nil
	}
	name := t.Columns[t.OrderNumberColumn].Name
	layout, number, err := s.idOf(t.OrderNumberColumn, s.in.Value(s.v, i, s.in.OrderNumber))
	if err != nil {
		return refuse(plan.NumberMismatch, "row %d: %s: %v", i+1, name, err)
	}
	id, err := ring.Decode(layout, number)
	if err != nil {
		return refuse(plan.NumberMismatch, "row %d: %s: %v", i+1, name, err)
	}
	if id != r.id || layout != r.layout {
		return refuse(plan.NumberMismatch, "row %d: the order number %s is that of ID %s, not of %s: leave %s out and it is generated",
			i+1, number, id, r.id, name)
	}
	return nil
}

// idOf reads an ID from a client, in the forms that its column accepts.
func (s *Stamper) idOf(column int, v stmt.Value) (orderid.Layout, orderid.ID, error) {
	t := s.in.Table
	if c := &t.Columns[column]; c.IsBinary() {
		key, _ := t.KeyOf(c.Name)
		return key.Read(v.Text)
	}
	n, ok := v.Integer()
	if !ok {
		return t.Layout, orderid.ID{}, fmt.Errorf("%s is no plain integer", v)
	}
	id, err := t.Layout.FromUint(n.Bits())
	return t.Layout, id, err
}

// divide assigns rows of divided genes to the shards that own their residues. Every row already has its ID.
func (s *Stamper) divide(m *router.Map) error {
	if m.Divided().Empty() {
		return nil
	}
	for i, g := range s.result.Genes {
		if _, _, divided := m.Sides(g); !divided {
			continue
		}
		r := &s.rows[i]
		residue, told := s.in.Residue(s.v, i)
		switch {
		case told:
		case r.group < 0:
			return fmt.Errorf("stamp %s: row %d: its ID contains no sequence", s.in.Table.TableName, i+1)
		default:
			residue = r.layout.Residue(r.id)
		}
		r.shard = m.LookupRow(g, residue)
	}
	return nil
}

func refuse(code plan.Code, format string, args ...any) *plan.Refusal {
	return &plan.Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}
