package stamp

import (
	"encoding/hex"
	"strconv"
	"strings"

	"locus/idgen/orderid"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

func (s *Stamper) column(stamp plan.Stamp) *catalog.Column {
	return &s.in.Table.Columns[s.in.Column(stamp)]
}

// writeValue writes a row's generated value. A first version is always 1, so it needs no placeholder.
func (s *Stamper) writeValue(i int, stamp plan.Stamp) {
	switch stamp {
	case plan.StampID:
		s.writeID(s.column(stamp), s.rows[i].layout, s.rows[i].id)
	case plan.StampOrderNumber:
		s.writeID(s.column(stamp), s.rows[i].layout, s.rows[i].number)
	case plan.StampGene:
		s.writeGene(int64(s.result.Genes[i]))
	case plan.StampVersion:
		s.out.put("1")
	case plan.StampNumber:
		s.writeNumber(s.column(stamp), s.v.Numbers[i])
	default:
		s.writeMade(s.column(stamp), s.made[i*len(s.in.Stamped)+int(stamp-plan.StampColumn)])
	}
}

// writeMade writes a generator's value: a number, or text with any characters.
func (s *Stamper) writeMade(c *catalog.Column, text string) {
	switch {
	case s.form == placeholders:
		s.out.placeholder(stmt.Value{Kind: stmt.String, Text: []byte(text)})
	case c.IsInteger():
		s.out.put(text)
	case strings.ContainsAny(text, "'\\"):
		// The meaning of a backslash depends on sql_mode. Hexadecimal has one meaning in every mode.
		s.out.text = append(hex.AppendEncode(append(s.out.text, "_utf8mb4 X'"...), []byte(text)), '\'')
	default:
		s.out.text = append(append(append(s.out.text, '\''), text...), '\'')
	}
}

// writeNumber writes a number with its column's signedness.
func (s *Stamper) writeNumber(c *catalog.Column, n uint64) {
	switch {
	case s.form != placeholders:
		s.out.text = strconv.AppendUint(s.out.text, n, 10)
	case c.Unsigned:
		s.out.placeholder(stmt.UintValue(n))
	default:
		s.out.placeholder(stmt.IntValue(int64(n)))
	}
}

func (s *Stamper) writeGene(g int64) {
	if s.form == placeholders {
		s.out.placeholder(stmt.IntValue(g))
		return
	}
	s.out.text = strconv.AppendInt(s.out.text, g, 10)
}

func (s *Stamper) writeID(c *catalog.Column, l orderid.Layout, id orderid.ID) {
	if s.form == placeholders {
		s.out.placeholder(s.idValue(c, l, id))
		return
	}
	s.out.text = c.AppendID(s.out.text, l, id)
}

// idValue returns an ID as a parameter, with its column's signedness.
func (s *Stamper) idValue(c *catalog.Column, l orderid.Layout, id orderid.ID) stmt.Value {
	switch {
	case c.IsBinary():
		from := len(s.raw)
		s.raw = l.AppendBytes(s.raw, id)
		return stmt.Value{Kind: stmt.Bytes, Text: s.raw[from:len(s.raw):len(s.raw)]}
	case c.Unsigned:
		return stmt.UintValue(id.Lo)
	}
	return stmt.IntValue(int64(id.Lo))
}

// appendName quotes a name so that it is valid in every sql_mode.
func appendName(dst []byte, name string) []byte {
	dst = append(dst, '`')
	for i := range len(name) {
		if name[i] == '`' {
			dst = append(dst, '`')
		}
		dst = append(dst, name[i])
	}
	return append(dst, '`')
}
