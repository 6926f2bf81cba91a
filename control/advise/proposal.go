package advise

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"locus/config/strict"
	"locus/idgen/gene"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
)

// Proposal contains proposed declarations for the tables of a server. Tables that it does not contain stay on one shard.
type Proposal struct {
	// Shards is the number of shards that the report assumes.
	Shards int `yaml:"shards" json:"shards"`
	// Tables are the declared tables by their names, such as shop.orders.
	Tables map[string]*Table `yaml:"tables" json:"tables"`
}

// Table is the proposed declaration of a table.
type Table struct {
	// Declare are the words of "locus table add".
	Declare string `yaml:"declare" json:"declare"`
	// Add is set if the table gets its owner in a new column.
	Add *Added `yaml:"add,omitempty" json:"add,omitempty"`
	// Why is for readers.
	Why string `yaml:"why,omitempty" json:"why,omitempty"`
}

// Added is a column that a table gets. Its values are copied from the rows of another table.
type Added struct {
	Column string `yaml:"column" json:"column"`
	// From is the table, and Value its column, from which the values are copied. The rows with By = Key belong together. By is a column of the
	// table that gets the new one.
	From  string `yaml:"from" json:"from"`
	Value string `yaml:"value" json:"value"`
	By    string `yaml:"by" json:"by"`
	Key   string `yaml:"key" json:"key"`

	like *catalog.Column // the column with the type of the new one
}

// mostShards limits the shards of a proposal.
const mostShards = 256

// ReadProposal reads a proposal in YAML and checks it against a schema. The error lists every problem.
func ReadProposal(text []byte, s *Schema) (*Proposal, error) {
	p := new(Proposal)
	if err := strict.Decode(text, p); err != nil {
		return nil, err
	}
	if p.Shards < 1 || p.Shards > mostShards {
		return nil, fmt.Errorf("shards: %d: use a number from 1 to %d", p.Shards, mostShards)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(p.Tables)) {
		if t := p.Tables[name]; t != nil && t.Add != nil {
			t.Add.like = p.like(t.Add, s, len(p.Tables))
		}
		if err := p.check(name, s); err != nil {
			wrong = append(wrong, err)
		}
	}
	return p, errors.Join(wrong...)
}

// like returns the column from which the values of a new column come. A table between them may get a new column too.
func (p *Proposal) like(a *Added, s *Schema, most int) *catalog.Column {
	from := s.named(a.From)
	if from == nil || most < 0 {
		return nil
	}
	if c := column(from, a.Value); c != nil {
		return c
	}
	if t := p.Tables[a.From]; t != nil && t.Add != nil && strings.EqualFold(t.Add.Column, a.Value) {
		return p.like(t.Add, s, most-1)
	}
	return nil
}

func (p *Proposal) check(name string, s *Schema) error {
	t := s.named(name)
	if t == nil {
		return fmt.Errorf("table %s: the server has no such table; write it as schema.table", name)
	}
	if p.Tables[name] == nil {
		return fmt.Errorf("table %s: declare is missing", name)
	}
	_, err := resolve(t, p.Tables[name], s)
	return err
}

// YAML returns the proposal as a file to be edited.
func (p *Proposal) YAML() ([]byte, error) {
	text, err := yaml.Marshal(p)
	return append([]byte("# How locus advise would shard the tables. Tables that are not listed stay on one\n"+
		"# shard. Edit it, and see what that changes: locus advise --proposal FILE ...\n"), text...), err
}

// declaration returns the declaration of a table.
func (t *Table) declaration() (catalog.Declaration, error) { return catalog.ParseWords(t.Declare) }

// resolve returns a table as it would be declared, with the columns that it gets.
func resolve(live *schema.Surveyed, t *Table, s *Schema) (*catalog.Table, error) {
	d, err := t.declaration()
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", live.TableName, err)
	}
	columns := slices.Clone(live.Columns)
	if t.Add != nil {
		added, err := t.Add.column(live, s)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", live.TableName, err)
		}
		columns = append(columns, added)
	}
	for i := range columns {
		if c := &columns[i]; d.Owner != "" && strings.EqualFold(c.Name, d.Owner) && caseless(c) {
			c.Charset, c.Collation = "utf8mb4", "utf8mb4_bin" // a step of the report
		}
	}
	if d.MakesGene() && column(live, catalog.OwnGene) == nil {
		columns = append(columns, catalog.OwnGeneColumn())
	}
	table, err := catalog.Resolve(live.TableName, d, columns, s.Width)
	if err != nil {
		return nil, err
	}
	return table.WithUnique(live.Unique), nil
}

// column returns the new column of a table.
func (a *Added) column(live *schema.Surveyed, s *Schema) (catalog.Column, error) {
	from := s.named(a.From)
	switch {
	case from == nil:
		return catalog.Column{}, fmt.Errorf("add: from: the server has no table %s", a.From)
	case column(live, a.Column) != nil:
		return catalog.Column{}, fmt.Errorf("add: it has a column %s already", a.Column)
	case column(live, a.By) == nil:
		return catalog.Column{}, fmt.Errorf("add: by: it has no column %s", a.By)
	case column(from, a.Key) == nil:
		return catalog.Column{}, fmt.Errorf("add: key: table %s has no column %s", a.From, a.Key)
	}
	if a.like == nil {
		return catalog.Column{}, fmt.Errorf("add: value: table %s has no column %s", a.From, a.Value)
	}
	added := *a.like
	added.Name, added.AutoIncrement, added.Nullable, added.HasDefault, added.Invisible = a.Column, false, false, false, false
	return added, nil
}

// shardNames returns the names of n shards.
func shardNames(n int) []router.ShardName {
	names := make([]router.ShardName, n)
	for i := range names {
		names[i] = router.ShardName(fmt.Sprintf("s%d", i))
	}
	return names
}

// evenMap returns a map that gives each shard the same number of genes.
func evenMap(shards []router.ShardName, width gene.Width) (*router.Map, error) {
	entries := make([]router.Entry, len(shards))
	for i, name := range shards {
		entries[i] = router.Entry{Bound: gene.Gene((i+1)*(int(width.Last())+1)/len(shards) - 1), Shard: name}
	}
	return router.New(width, 1, entries)
}

// sorted returns the names of the proposal's tables as the server has them.
func (p *Proposal) sorted() (names []catalog.TableName) {
	for text := range p.Tables {
		if name, err := catalog.ParseTableName(text); err == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, catalog.TableName.Compare)
	return names
}

// of returns the proposed declaration of a table, or nil.
func (p *Proposal) of(name catalog.TableName) *Table { return p.Tables[name.String()] }

// ownerOf returns the owner's column of a sharded table, or "".
func (p *Proposal) ownerOf(name catalog.TableName) string {
	if t := p.of(name); t != nil {
		if d, err := t.declaration(); err == nil {
			owner := d.Owner
			if d.Parent != nil {
				owner = cmp.Or(owner, d.Parent.Column)
			}
			return owner
		}
	}
	return ""
}
