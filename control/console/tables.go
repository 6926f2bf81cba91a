package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
	"locus/router/cluster"
)

// tablesAnswer is the declared tables in force in this proxy.
type tablesAnswer struct {
	Schema int    `json:"schema"`
	Hash   string `json:"hash"` // the hash from owners to genes
	Bits   int    `json:"gene_bits"`
	// Default is the shard of all undeclared tables.
	Default string        `json:"default_shard"`
	Tables  []tableAnswer `json:"tables"`
}

type tableAnswer struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Shard    string `json:"shard,omitempty"`  // for a single table
	Owner    string `json:"owner,omitempty"`  // the owner's column
	Parent   string `json:"parent,omitempty"` // the column with the parent's ID, which determines the owner
	ID       string `json:"id,omitempty"`
	Layout   string `json:"id_layout,omitempty"`
	// OrderNumber, Gene and Version are columns. Stamped maps further columns to generators.
	OrderNumber string            `json:"order_number,omitempty"`
	GeneText    string            `json:"gene_text,omitempty"`
	Gene        string            `json:"gene,omitempty"`
	Version     string            `json:"version,omitempty"`
	Stamped     map[string]string `json:"stamped,omitempty"`
	Columns     []columnAnswer    `json:"columns"`           // as on the shards
	Problem     string            `json:"problem,omitempty"` // why it can't be served
	SQL         string            `json:"declaration"`       // the statement that declares it
}

type columnAnswer struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Nullable bool     `json:"nullable,omitempty"`
	Is       []string `json:"is,omitempty"` // how the proxy uses the column
}

func (c *Console) getTables(w http.ResponseWriter, _ *http.Request) {
	declared, known := c.options.Proxy.Declared(), c.options.Proxy.Catalog()
	a := tablesAnswer{schema, declared.Settings.Hash, int(declared.Settings.GeneBits), string(declared.Settings.DefaultShard), []tableAnswer{}}
	for _, name := range declared.TableNames() {
		a.Tables = append(a.Tables, newTable(name, declared, known))
	}
	writeJSON(w, a)
}

func newTable(name catalog.TableName, declared *cluster.Cluster, known *catalog.Catalog) tableAnswer {
	d := declared.Tables[name]
	a := tableAnswer{
		Database: name.Schema, Name: name.Name, Kind: string(d.Kind), Shard: string(d.Shard), Owner: d.Owner, OrderNumber: d.OrderNumber, Gene: d.Gene, Version: d.Version,
		Stamped: d.Stamped, Columns: []columnAnswer{}, SQL: fmt.Sprintf("CALL locus.table_add(%s, %s)", link.Text(name.String()), link.Text(d.Words())),
	}
	if d.Parent != nil {
		a.Parent = d.Parent.Column
	}
	if d.GeneText != nil {
		a.GeneText = d.GeneText.Column
	}
	if d.ID != nil {
		a.ID, a.Layout = d.ID.Column, d.ID.Layouts()
	}
	if known == nil {
		return a
	}
	t, err := known.Find(name)
	if err != nil {
		a.Problem = err.Error()
		return a
	}
	for _, column := range t.Columns {
		a.Columns = append(a.Columns, columnAnswer{column.Name, strings.ToLower(column.SQLType()), column.Nullable, a.uses(column)})
	}
	return a
}

// uses returns the proxy's uses of a column, by the table's declaration.
func (a tableAnswer) uses(c catalog.Column) []string {
	var list []string
	for _, use := range []struct{ column, is string }{
		{a.Owner, "owner"}, {a.Parent, "parent's ID"}, {a.ID, "ID"}, {a.OrderNumber, "order number"}, {a.GeneText, "text with the gene"}, {a.Gene, "gene"}, {a.Version, "version"},
	} {
		if use.column != "" && strings.EqualFold(use.column, c.Name) {
			list = append(list, use.is)
		}
	}
	if c.Name == catalog.OwnGene && !slices.Contains(list, "gene") {
		list = append(list, "gene, made by the proxy")
	}
	if by, there := a.Stamped[c.Name]; there {
		list = append(list, "stamped by "+by)
	}
	if c.AutoIncrement {
		list = append(list, "AUTO_INCREMENT")
	}
	if c.Generated {
		list = append(list, "generated")
	}
	return list
}
