package changes

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/migrate/link"
)

// Position is a place in the log of a server and of its replicas.
type Position struct {
	flavor link.Flavor
	// seen is the set of GTIDs of what was given out; of a transaction beyond it,
	// given groups of rows were given out too.
	seen  string
	given int
	// of is the GTID of that transaction, if any were given: another server may have another one there.
	of string
	// from is where the log is to be read from. It is before seen while branches
	// that were prepared before seen are not decided: their rows must be read again.
	from string
	// end is where the server's log ended, of what [Current] gave; not encoded.
	end Mark
}

// End is the end of the server's log when the position was asked for; zero for a
// position that is not [Current]'s.
func (p Position) End() Mark { return p.end }

// IsZero tells a position that was never set.
func (p Position) IsZero() bool { return p.flavor == "" }

// Encode makes text of the position that Decode reads.
func (p Position) Encode() string {
	if p.IsZero() {
		return ""
	}
	return strings.Join([]string{string(p.flavor), p.seen, p.within(), p.from}, "|")
}

// within is how far the position is in a transaction.
func (p Position) within() string {
	if p.given == 0 {
		return "0"
	}
	return strconv.Itoa(p.given) + "@" + p.of
}

func (p Position) String() string { return p.seen + "+" + p.within() }

// Decode reads what Encode made. Empty text is the zero position.
func Decode(text string) (Position, error) {
	if text == "" {
		return Position{}, nil
	}
	parts := strings.Split(text, "|")
	if len(parts) != 4 {
		return Position{}, fmt.Errorf("position %q is not of this version", text)
	}
	p := Position{flavor: link.Flavor(parts[0]), seen: parts[1], from: parts[3]}
	var given string
	var err error
	given, p.of, _ = strings.Cut(parts[2], "@")
	if p.given, err = strconv.Atoi(given); err != nil {
		return Position{}, fmt.Errorf("position %q: %w", text, err)
	}
	for _, set := range []string{p.seen, p.from, p.of} {
		if _, err := parseSet(p.flavor, set); err != nil {
			return Position{}, fmt.Errorf("position %q: %w", text, err)
		}
	}
	return p, nil
}

// Covers tells whether everything before q is before p as well. Positions of
// different servers are compared by their GTIDs.
func (p Position) Covers(q Position) bool {
	if q.IsZero() {
		return true
	}
	if p.flavor != q.flavor {
		return false
	}
	if p.seen == q.seen {
		return p.reaches(q)
	}
	mine, err := parseSet(p.flavor, p.seen)
	if err != nil {
		return false
	}
	other, err := parseSet(q.flavor, q.seen)
	if err != nil || !contains(mine, other) {
		return false
	}
	return !contains(other, mine) || p.reaches(q)
}

// reaches tells whether it is as far in the transaction after both of them.
func (p Position) reaches(q Position) bool { return q.given == 0 || p.of == q.of && p.given >= q.given }

func parseSet(flavor link.Flavor, text string) (mysql.GTIDSet, error) {
	switch flavor {
	case link.MariaDB:
		return mysql.ParseMariadbGTIDSet(text)
	case link.MySQL:
		return mysql.ParseMysqlGTIDSet(text)
	}
	return nil, fmt.Errorf("a server of kind %q is not known", flavor)
}

// contains is GTIDSet.Contain, for which MariaDB's empty set contains nothing,
// not even itself.
func contains(a, b mysql.GTIDSet) bool { return b.IsEmpty() || a.Contain(b) }

// Current is the position after everything that was committed, and told to its
// client or shown to a query, before the question: with its [Position.End], since
// MySQL shows rows before it counts their GTIDs.
func Current(ctx context.Context, c *link.Conn) (Position, error) {
	end, err := logEnd(ctx, c)
	if err != nil {
		return Position{}, err
	}
	executed := "@@GLOBAL.gtid_executed"
	if c.Version().Flavor == link.MariaDB {
		executed = "@@GLOBAL.gtid_binlog_pos"
	}
	rows, err := c.Query(ctx, "SELECT "+executed+", "+identity(c))
	if err != nil {
		return Position{}, fmt.Errorf("read the position of the log: %w", err)
	}
	end.server = string(rows[0][1])
	seen := strings.ReplaceAll(string(rows[0][0]), "\n", "")
	return Position{flavor: c.Version().Flavor, seen: seen, from: seen, end: end}, nil
}
