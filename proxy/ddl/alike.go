package ddl

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
)

// alike returns an error unless the skipped shards have the same tables as a shard that ran the definition. If a server
// refuses one clause because its object exists, that says nothing about the other clauses. The existing column may also differ
// from the intended one.
func (d *definition) alike(done router.ShardName, passed []Passed) error {
	for _, p := range passed {
		for _, name := range d.Facts.Statement.Tables {
			table := d.quoted(name)
			want, err := d.definitionOn(done, table)
			if err != nil {
				return err
			}
			got, err := d.definitionOn(p.Shard, table)
			if err != nil {
				return err
			}
			if difference := differing(want, got); difference != "" {
				return wire.Errorf(p.Said.Code, p.Said.State, "shard %s reports %q and was skipped, but %s is another table there than on %s: %s", p.Shard, p.Said.Message, table, done, difference)
			}
		}
	}
	return nil
}

// definitionOn returns the lines of a table's definition, sorted, or nil if the table doesn't exist.
func (d *definition) definitionOn(shard router.ShardName, table string) ([]string, error) {
	rows, err := d.Conns.Ask(shard, 0, d.Settings, "SHOW CREATE TABLE "+table)
	if txn.IsRefusal(err) {
		return nil, nil // it was dropped
	}
	if err != nil {
		return nil, err
	}
	if len(rows.Rows) != 1 || len(rows.Rows[0]) < 2 {
		return nil, nil // it was dropped
	}
	text := nextNumber.ReplaceAllString(string(rows.Rows[0][1]), "")
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSpace(lines[i]), ",")
	}
	slices.Sort(lines)
	return lines, nil
}

// nextNumber matches the part that differs between equal tables.
var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// differing returns the first line that one definition has and the other lacks.
func differing(want, got []string) string {
	for _, line := range want {
		if !slices.Contains(got, line) {
			return fmt.Sprintf("it lacks %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			return fmt.Sprintf("it has %s", line)
		}
	}
	return ""
}

// WithoutNextNumber returns the definition of a table whose numbers start from the beginning.
func WithoutNextNumber(definition string) string { return nextNumber.ReplaceAllString(definition, "") }
