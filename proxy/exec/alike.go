package exec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
)

// alike fails unless the shards that were passed over have the same tables as one that ran the definition. That a server refuses one
// clause, as what it makes is there, says nothing about the others, nor that a column of that name is the one that was meant.
func (r *Request) alike(done router.ShardName, passed []Passed) error {
	for _, p := range passed {
		for _, name := range r.Facts.Statement.Tables {
			table := r.quoted(name)
			want, err := r.definitionOf(done, table)
			if err != nil {
				return err
			}
			got, err := r.definitionOf(p.Shard, table)
			if err != nil {
				return err
			}
			if difference := differing(want, got); difference != "" {
				return wire.Errorf(p.Said.Code, p.Said.State, "shard %s says %q and was passed over, but %s is another table there than on %s: %s", p.Shard, p.Said.Message, table, done, difference)
			}
		}
	}
	return nil
}

// definitionOf gives a table's definition, its lines sorted; nothing if it isn't
// there.
func (r *Request) definitionOf(shard router.ShardName, table string) ([]string, error) {
	rows, err := r.Ask(shard, r.Vars.Settings, "SHOW CREATE TABLE "+table)
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

// nextNumber is what differs between tables that are alike.
var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// differing gives the first line that one has and the other doesn't.
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

// WithoutNextNumber is the definition of a table that begins to number its rows anew.
func WithoutNextNumber(definition string) string { return nextNumber.ReplaceAllString(definition, "") }
