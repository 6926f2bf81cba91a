package table

import "locus/migrate/link"

// loadable reports whether LOAD DATA reads every value of the column as an INSERT does. Labels of ENUM and SET, BIT, JSON and
// geometries have forms of their own there.
func (c *Column) loadable() bool {
	switch c.class {
	case integer, decimal, floating, year, temporal, text, octets:
		return true
	case unknown, bits, json, geometry:
	}
	return false
}

// Loads reports whether rows may be written with [Table.LoadData].
func (t *Table) Loads() bool {
	for i := range t.Columns {
		if c := &t.Columns[i]; !c.Generated && !c.loadable() {
			return false
		}
	}
	return true
}

// LoadData returns the statement that reads the lines of [Table.AppendLine].
func (t *Table) LoadData() string {
	return "LOAD DATA LOCAL INFILE 'rows' INTO TABLE " + t.SQL() + " CHARACTER SET binary" +
		` FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' (` + t.intoList + ")"
}

// AppendLine appends a row as a line for LOAD DATA, without generated columns, which the server computes.
// https://dev.mysql.com/doc/refman/8.4/en/load-data.html
func (t *Table) AppendLine(b link.Statement, r Row) link.Statement {
	first := true
	for i := range t.Columns {
		if t.Columns[i].Generated {
			continue
		}
		if !first {
			b = append(b, '\t')
		}
		first = false
		b = appendField(b, r[i])
	}
	return append(b, '\n')
}

func appendField(b link.Statement, v []byte) link.Statement {
	if v == nil {
		return append(b, `\N`...)
	}
	from := 0
	for i, x := range v {
		var escaped byte
		switch x {
		case '\\':
			escaped = x
		case '\t':
			escaped = 't'
		case '\n':
			escaped = 'n'
		default:
			continue
		}
		b = append(append(b, v[from:i]...), '\\', escaped)
		from = i + 1
	}
	return append(b, v[from:]...)
}
