package catalog

import (
	"slices"
	"strings"
)

// OwnGene is the gene column that locus itself creates, fills and hides, in sharded tables in which no ID determines the gene.
const OwnGene = "locus_gene"

// OwnGeneDefinition is the definition of the column and its index. The default is no valid gene, so a check for misplaced rows finds rows that
// were written without a proxy. A MEDIUMINT can store genes of every width.
const OwnGeneDefinition = "`" + OwnGene + "` MEDIUMINT NOT NULL DEFAULT -1 INVISIBLE, KEY `" + OwnGene + "` (`" + OwnGene + "`)"

// OwnGeneColumn returns the column as information_schema describes it.
func OwnGeneColumn() Column {
	return Column{Name: OwnGene, DataType: "mediumint", Invisible: true, HasDefault: true}
}

// ByOwner returns the table without the key that [OwnGene] is. Code that fills that column uses it. A table without the column is returned
// unchanged.
func (t *Table) ByOwner() *Table {
	if !t.MakesGene() {
		return t
	}
	without := *t
	without.Keys = slices.DeleteFunc(slices.Clone(t.Keys), func(k Key) bool { return k.Role == Gene })
	return &without
}

// MakesGene reports whether the table's gene is in [OwnGene].
func (d Declaration) MakesGene() bool {
	return d.Kind == Sharded && d.geneColumn() == OwnGene
}

// geneColumn returns the column that contains the bare gene, or "" if an ID determines the gene.
func (d Declaration) geneColumn() string {
	if d.Gene == "" && d.ID == nil && d.Parent == nil {
		return OwnGene
	}
	return d.Gene
}

// NoGeneColumnError reports a table that lacks its [OwnGene] and fits its declaration otherwise.
type NoGeneColumnError struct{ Table *Table }

func (e *NoGeneColumnError) Error() string {
	return "table " + e.Table.TableName.String() + ": column " + OwnGene + ": locus makes it where no ID tells the gene, and it isn't there: " +
		"locus apply and locus table add make it on every shard, and fill it"
}

// checkOwnGene checks the column for the gene. It reports whether the column exists and has the attributes that locus gives it.
func (r *resolver) checkOwnGene(name string) bool {
	i, there := r.t.Column(name)
	switch {
	case !there:
		r.unmade = true
	case !r.t.Columns[i].Invisible || !r.t.Columns[i].HasDefault:
		r.refuse(name, "it is to be invisible and to have a default: ALTER TABLE %s MODIFY %s", r.t.TableName, strings.SplitAfter(OwnGeneDefinition, "INVISIBLE")[0])
	default:
		return true
	}
	return false
}
