package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/router"
)

// passedOver is a shard that says of a definition that it was done there before.
type passedOver struct {
	shard router.ShardName
	said  *mysql.MyError
}

// alike holds the tables of the shards that were passed over to those of one where
// the definition was done: what a server says of one clause says nothing of the
// others, nor that a column of that name is the column that was meant.
func (s *Session) alike(r *request, done router.ShardName, passed []passedOver) error {
	for _, p := range passed {
		for _, name := range r.facts.Statement.Tables {
			table := s.quotedName(r, name)
			want, err := s.definitionOf(r, done, table)
			if err != nil {
				return err
			}
			got, err := s.definitionOf(r, p.shard, table)
			if err != nil {
				return err
			}
			if difference := differing(want, got); difference != "" {
				return fail(p.said.Code, p.said.State, "shard %s says %q and was passed over, but %s is another table there than on %s: %s", p.shard, p.said.Message, table, done, difference)
			}
		}
	}
	return nil
}

// definitionOf gives a table's definition, its lines sorted; nothing if it isn't
// there.
func (s *Session) definitionOf(r *request, shard router.ShardName, table string) ([]string, error) {
	rows, err := s.requested(r).Ask(shard, s.vars.Settings, "SHOW CREATE TABLE "+table)
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
