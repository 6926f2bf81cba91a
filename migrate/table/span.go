package table

import (
	"slices"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/router/catalog"
)

// span is a range of the telling column.
type span = catalog.Span

// spans returns the genes as ranges of the telling column, in order.
func (t *Table) spans(genes gene.Set) []span {
	if !t.telling.whole {
		return t.telling.Spans(genes)
	}
	if !genes.Contains(0) {
		return nil
	}
	return make([]span, 1) // of all rows
}

// appendSpans appends the condition that the telling column is in one of the spans.
func (t *Table) appendSpans(b []byte, spans []span) []byte {
	if t.telling.whole {
		return append(b, "(TRUE)"...)
	}
	return catalog.AppendSpans(b, link.Name(t.telling.Column.Name), spans)
}

// Condition returns the condition that a row has one of the genes, in parentheses.
func (t *Table) Condition(genes gene.Set) string {
	spans := t.spans(genes)
	if len(spans) == 0 {
		return "(FALSE)"
	}
	return string(t.appendSpans(nil, spans))
}

// Conditions is Condition divided into several, of at most ranges ranges each.
func (t *Table) Conditions(genes gene.Set, ranges int) []string {
	var all []string
	for some := range slices.Chunk(t.spans(genes), ranges) {
		all = append(all, string(t.appendSpans(nil, some)))
	}
	return all
}
