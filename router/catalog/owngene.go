package catalog

import (
	"slices"
	"strings"
)

// OwnGene is the column for the gene that is made, filled and hidden without anybody's doing, in sharded tables of which no
// ID tells it.
const OwnGene = "locus_gene"

// OwnGeneDefinition makes the column and its index. Its default is no gene, so that rows which were written past the proxies
// are found by whoever looks for misplaced ones. A MEDIUMINT holds genes of every width.
const OwnGeneDefinition = "`" + OwnGene + "` MEDIUMINT NOT NULL DEFAULT -1 INVISIBLE, KEY `" + OwnGene + "` (`" + OwnGene + "`)"

// OwnGeneColumn is that column, as it is in a table that has it.
func OwnGeneColumn() Column {
	return Column{Name: OwnGene, DataType: "mediumint", Invisible: true, HasDefault: true}
}

// ByOwner is the table without the key that [OwnGene] is: for who is to fill it. One that has none is given as it is.
func (t *Table) ByOwner() *Table {
	if !t.MakesGene() {
		return t
	}
	without := *t
	without.Keys = slices.DeleteFunc(slices.Clone(t.Keys), func(k Key) bool { return k.Role == Gene })
	return &without
}

// MakesGene tells a table whose gene stands in that column.
func (d Declaration) MakesGene() bool {
	return d.Kind == Sharded && d.geneColumn() == OwnGene
}

// geneColumn is the column for the bare gene; empty: an ID tells it.
func (d Declaration) geneColumn() string {
	if d.Gene == "" && d.ID == nil && d.Parent == nil {
		return OwnGene
	}
	return d.Gene
}

// UnmadeError is a table that lacks its [OwnGene], and fits otherwise.
type UnmadeError struct{ Table *Table }

func (e *UnmadeError) Error() string {
	return "table " + e.Table.TableName.String() + ": column " + OwnGene + ": locus makes it where no ID tells the gene, and it isn't there: " +
		"locus apply and locus table add make it on every shard, and fill it"
}

// ownGene refuses what isn't the column that is made.
func (r *resolver) ownGene(name string) bool {
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
