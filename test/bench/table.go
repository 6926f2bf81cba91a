package main

import (
	"strings"
	"unicode/utf8"
)

// table is a Markdown table that is readable as plain text.
type table struct {
	head []string
	rows [][]string
}

// markdown begins with an empty line; a table without rows is nothing.
func (t table) markdown() string {
	if len(t.rows) == 0 {
		return ""
	}
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(escape(cell)))
		}
	}
	var b strings.Builder
	b.WriteByte('\n')
	line(&b, t.head, widths, " ")
	line(&b, make([]string, len(t.head)), widths, "-")
	for _, row := range t.rows {
		line(&b, row, widths, " ")
	}
	return b.String()
}

func line(b *strings.Builder, cells []string, widths []int, fill string) {
	b.WriteByte('|')
	for i, cell := range cells {
		cell = escape(cell)
		b.WriteString(" " + cell + strings.Repeat(fill, widths[i]-utf8.RuneCountInString(cell)) + " |")
	}
	b.WriteByte('\n')
}

// escape keeps a cell one cell.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
}
