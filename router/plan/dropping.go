package plan

import (
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Dropping is the list of a DROP TABLE.
type Dropping struct {
	IfExists bool
	Tables   []Dropped
}

// Dropped is a table of the list. Shard is the only shard that has it. Empty means that all shards have it.
type Dropped struct {
	catalog.TableName
	Shard router.ShardName
}

// Text returns the statement for a shard. It has IF EXISTS, because MySQL drops no table of a list if one of
// them is missing. So a repeated statement drops the tables that the previous one has left.
func (d *Dropping) Text(shard router.ShardName) []byte {
	text := []byte("DROP TABLE IF EXISTS ")
	names := make([]string, 0, len(d.Tables))
	for _, t := range d.Tables {
		if t.Shard == "" || t.Shard == shard {
			names = append(names, quote(t.Schema)+"."+quote(t.Name))
		}
	}
	return append(text, strings.Join(names, ", ")...)
}

// planDropping plans a DROP TABLE of tables that all shards have together with others, as tools send it that drop all tables of a database.
// It returns nil for other statements, and for lists of one kind.
func (c Context) planDropping(s *stmt.Statement) (Plan, error) {
	if s.Verb != "DROP" || len(s.Dropped) < 2 || len(s.Dropped) != len(s.Tables) {
		return nil, nil
	}
	d := &Dropping{IfExists: s.IfExists}
	everywhere := false
	for _, name := range s.Dropped {
		full := c.fullName(name)
		if c.isTemporary(full) {
			return nil, nil
		}
		spread, err := c.onEveryShard(name)
		if err != nil {
			return nil, err
		}
		dropped := Dropped{TableName: full}
		if !spread {
			if dropped.Shard, _, err = c.onlyShard(s, name); err != nil {
				return nil, err
			}
		}
		everywhere = everywhere || spread
		d.Tables = append(d.Tables, dropped)
	}
	if !everywhere {
		return nil, nil
	}
	return &Definition{Facts: Facts{Writes: true}, Course: AtOnce, Dropping: d}, nil
}
