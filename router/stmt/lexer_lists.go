package stmt

import "bytes"

func (l *Lexed) punctuation(c byte) {
	switch c {
	case '(':
		l.open()
	case ')':
		l.close()
	case ',':
		l.comma()
	case '?':
		l.strip(l.pos, l.pos+1, ParamLiteral)
	case '.':
		l.point()
	case '#':
		l.comment(l.pos, lineEnd(l.Text, l.pos))
	case '-':
		l.minus()
	case '/':
		l.slash()
	case ';':
		l.semicolon()
	case '@':
		l.variable()
	default:
		l.touch()
		l.pos++
	}
}

func (l *Lexed) open() {
	switch l.insert {
	case betweenRows:
		l.openRow()
		return
	case inRow:
		l.cellHas = cellOther
	case notInsert, insertHead:
	}
	l.started = true
	if l.by == byItem {
		l.by = withinItem
	}
	l.deeper()
	l.pos++
	if l.list == sawIn {
		l.list = openList
	} else {
		l.list = noList
	}
}

func (l *Lexed) deeper() {
	l.depth++
	l.deepest = max(l.deepest, l.depth)
}

func (l *Lexed) openRow() {
	l.insert = inRow
	l.deeper()
	l.list = noList
	l.flush(l.pos)
	l.rowKey = len(l.Key)
	l.Rows = append(l.Rows, Row{
		Open: int32(l.pos), First: int32(len(l.Cells)), slot: int32(len(l.Slots)), simple: true,
	})
	l.pos++
	l.beginCell()
}

func (l *Lexed) beginCell() {
	l.cell = Cell{Start: int32(l.pos), Literal: -1}
	l.cellHas = cellEmpty
}

func (l *Lexed) endCell() {
	l.cell.End = int32(l.pos)
	if l.cellHas != cellLiteral {
		l.cell.Literal, l.cell.Negative = -1, false
		if wordValue(l.Text[l.cell.Start:l.cell.End]).Kind == Unknown {
			l.Rows[len(l.Rows)-1].simple = false
		}
	}
	l.Cells = append(l.Cells, l.cell)
}

func (l *Lexed) close() {
	l.list = noList
	l.depth--
	if l.depth < l.byDepth {
		l.by = noBy
	}
	if l.insert == inRow && l.depth == 0 {
		l.closeRow()
		return
	}
	l.touch()
	l.pos++
}

// closeRow drops the row from the key if only a comma separates it from the previous row and it has the same shape. A
// plan can't distinguish the two then. All rows that contain only values have one shape, since their values are read
// from the cells.
func (l *Lexed) closeRow() {
	row := &l.Rows[len(l.Rows)-1]
	if int(row.First) < len(l.Cells) || l.cellHas != cellEmpty {
		l.endCell()
	}
	row.Close, row.Count = int32(l.pos), int32(len(l.Cells))-row.First
	l.insert = betweenRows
	l.pos++
	l.flush(l.pos)
	if n := len(l.Rows); n > 1 && l.repeats(&l.Rows[n-2], row) {
		l.Key = l.Key[:l.prevKey[1]]
		l.Slots = l.Slots[:row.slot]
		row.dropped = true
		return
	}
	l.prevKey = [2]int{l.rowKey, len(l.Key)}
}

func (l *Lexed) repeats(before, row *Row) bool {
	if !onlyComma(l.Text[before.Close+1 : row.Open]) {
		return false
	}
	if row.simple && before.simple {
		return row.Count == before.Count
	}
	return bytes.Equal(l.Key[l.rowKey:], l.Key[l.prevKey[0]:l.prevKey[1]])
}

func onlyComma(t []byte) bool {
	commas := 0
	for _, c := range t {
		switch {
		case c == ',':
			commas++
		case class[c] != spaceByte:
			return false
		}
	}
	return commas == 1
}

func (l *Lexed) comma() {
	if l.list == inList {
		l.list = afterComma
	} else {
		l.list = noList
	}
	if l.by != noBy && l.depth == l.byDepth {
		l.by = byItem
	}
	if l.insert == inRow && l.depth == 1 {
		l.endCell()
		l.pos++
		l.beginCell()
		return
	}
	if l.insert == inRow {
		l.cellHas = cellOther
	}
	l.pos++
}

// point reads .5, or the point of a qualified name.
func (l *Lexed) point() {
	t := l.Text
	begins := l.pos == 0 || (!inName(t[l.pos-1]) && t[l.pos-1] != '`' && t[l.pos-1] != '"')
	if begins && l.pos+1 < len(t) && class[t[l.pos+1]] == digitByte {
		end, kind := numberEnd(t, l.pos)
		if end < len(t) && inName(t[end]) {
			l.digitName(l.pos, end, kind)
			return
		}
		l.strip(l.pos, end, kind)
		return
	}
	l.touch()
	l.pos++
}
