package stamp

import (
	"context"
	"fmt"
	"strconv"

	"locus/idgen/gene"
	"locus/router/plan"
	"locus/router/stmt"
)

// make calls the generators of the stamped columns, once per column.
func (s *Stamper) make(ctx context.Context) error {
	t := s.in.Table
	if len(t.StampedColumns) == 0 {
		return nil
	}
	for range len(s.rows) * len(t.StampedColumns) {
		s.made = append(s.made, "")
	}
	for k, c := range t.StampedColumns {
		stamp := plan.StampColumn + plan.Stamp(k)
		var genes []gene.Gene
		for i := range s.rows {
			if s.rows[i].asked.has(stamp) {
				genes = append(genes, s.result.Genes[i])
			}
		}
		if len(genes) == 0 {
			continue
		}
		if s.Make == nil {
			return fmt.Errorf("stamp %s: column %s is filled by generator %s, and this process has no generators", t.TableName, t.Columns[c.Column].Name, c.Generator)
		}
		texts, err := s.Make(ctx, c.Generator, genes)
		if err != nil {
			return notIssued(ctx, fmt.Sprintf("stamp %s: column %s", t.TableName, t.Columns[c.Column].Name), err)
		}
		if err := s.place(k, stamp, texts); err != nil {
			return err
		}
	}
	return nil
}

// place assigns the generated values in order to the rows that request one.
func (s *Stamper) place(k int, stamp plan.Stamp, texts []string) error {
	t := s.in.Table
	c := &t.Columns[t.StampedColumns[k].Column]
	for i := range s.rows {
		if !s.rows[i].asked.has(stamp) {
			continue
		}
		if _, err := strconv.ParseUint(texts[0], 10, 63); err != nil && c.IsInteger() {
			return fmt.Errorf("stamp %s: generator %s made %q, which is no number for column %s: no row was inserted",
				t.TableName, t.StampedColumns[k].Generator, texts[0], c.Name)
		}
		if key, isKey := t.KeyOf(c.Name); isKey { // statements search rows on the shard of the text's gene
			if g, err := key.Stored(stmt.Value{Kind: stmt.String, Text: []byte(texts[0])}); err != nil || g != s.result.Genes[i] {
				return fmt.Errorf("stamp %s: generator %s made %q for column %s, in which the row's gene %s can't be read at position %d: no row was inserted",
					t.TableName, t.StampedColumns[k].Generator, texts[0], c.Name, s.result.Genes[i].Format(t.Width), key.At+1)
			}
		}
		s.made[i*len(t.StampedColumns)+k], texts = texts[0], texts[1:]
	}
	return nil
}
