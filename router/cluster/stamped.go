package cluster

import (
	"errors"
	"fmt"

	"locus/idgen/format"
	"locus/idgen/gene"
	"locus/router/catalog"
)

// digits is the number of digits of the largest number that a generator makes, 2^63-1.
const digits = 19

// CheckStamped reports the stamped columns of a table that can't store every value of their generators.
func (c *Cluster) CheckStamped(t *catalog.Table) error {
	var errs []error
	for _, s := range t.StampedColumns {
		column := &t.Columns[s.Column]
		if err := c.Generators[s.Generator].checkColumn(column); err != nil {
			errs = append(errs, fmt.Errorf("table %s: column %s: generator %s %w", t.TableName, column.Name, s.Generator, err))
		}
	}
	if d := t.GeneText; d != nil {
		if err := c.Generators[t.Stamped[d.Column]].checkGeneText(d.At, t.Width); err != nil {
			errs = append(errs, fmt.Errorf("table %s: gene_text: column %s: generator %s %w", t.TableName, d.Column, t.Stamped[d.Column], err))
		}
	}
	return errors.Join(errs...)
}

// checkGeneText reports a generator whose texts don't show a gene of that width at a position, from 1.
func (g Generator) checkGeneText(position int, w gene.Width) error {
	if g.Kind != FormatGenerator {
		return errors.New("makes numbers, which show no gene")
	}
	t, err := format.Parse(g.Template, format.Parts())
	if err != nil {
		return err
	}
	switch at, digits, shown := t.GeneAt(); {
	case !shown:
		return fmt.Errorf("shows no gene: write {gene:%d} into its template, and parts of fixed length in front of it", catalog.GeneDigits(w))
	case digits != catalog.GeneDigits(w):
		return fmt.Errorf("shows a gene with %d digits, and those of the cluster have %d: write {gene:%[2]d}", digits, catalog.GeneDigits(w))
	case at+1 != position:
		return fmt.Errorf("shows the gene at position %d: write at: %[1]d", at+1)
	}
	return nil
}

// Cast returns the type for a CAST of the generator's values.
func (g Generator) Cast() string {
	if g.Kind != FormatGenerator {
		return "SIGNED"
	}
	t, err := format.Parse(g.Template, format.Parts())
	if err != nil { // Validate has reported it
		return "CHAR"
	}
	return fmt.Sprintf("CHAR(%d)", t.Max())
}

func (g Generator) checkColumn(column *catalog.Column) error {
	room := 0 // for text
	if column.IsText() || column.IsBinary() {
		room = column.Length
	}
	if g.Kind != FormatGenerator {
		if column.DataType == "bigint" || room >= digits {
			return nil
		}
		return fmt.Errorf("makes numbers up to 2^63-1, and this is %s: use BIGINT, or VARCHAR(%d)", column.SQLType(), digits)
	}
	t, err := format.Parse(g.Template, format.Parts())
	if err != nil {
		return err
	}
	if t.Max() > room {
		return fmt.Errorf("makes texts of up to %d bytes, and this is %s: use VARCHAR(%d)", t.Max(), column.SQLType(), t.Max())
	}
	return nil
}
