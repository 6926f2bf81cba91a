package changes

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/migrate/link"
)

// Position is a position in the log of a server and its replicas.
type Position struct {
	flavor link.Flavor
	// seen is the set of GTIDs whose transactions were returned completely. Of the next transaction, the first
	// given row groups were returned.
	seen  string
	given int
	// of is the GTID of the transaction of which given row groups were returned, if given isn't 0. Another server may have
	// another transaction in its place.
	of string
	// from is the position at which reading of the log continues. It is before seen while branches that were prepared before
	// seen are undecided, because their rows must be read again.
	from string
	// end is the end of the server's log, for a position from [Current]; not encoded.
	end Mark
}

// End returns the end of the server's log at the time of [Current]. It is zero for other positions.
func (p Position) End() Mark { return p.end }

// IsZero reports whether the position was never set.
func (p Position) IsZero() bool { return p.flavor == "" }

// Encode returns the position as text for Decode.
func (p Position) Encode() string {
	if p.IsZero() {
		return ""
	}
	return strings.Join([]string{string(p.flavor), p.seen, p.within(), p.from}, "|")
}

// within formats the position within a transaction.
func (p Position) within() string {
	if p.given == 0 {
		return "0"
	}
	return strconv.Itoa(p.given) + "@" + p.of
}

func (p Position) String() string { return p.seen + "+" + p.within() }

// Decode reads the text of Encode. The empty text is the zero position.
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

// Covers reports whether everything before q is before p as well. Positions of different servers are compared by GTID.
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

// reaches reports whether p is as far as q in the transaction after their equal sets.
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

// contains is GTIDSet.Contain with an exception for MariaDB's empty set, for which that returns false even for itself.
func contains(a, b mysql.GTIDSet) bool { return b.IsEmpty() || a.Contain(b) }

// Current returns the position after everything that was committed, and acknowledged to its client or shown to a query,
// before the call. It includes an [Position.End], since MySQL shows rows before it counts their GTIDs.
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

// begun returns the set of GTIDs that were returned. It includes the transaction of which only a part was returned.
func (p Position) begun() (mysql.GTIDSet, error) {
	seen, err := parseSet(p.flavor, p.seen)
	if err == nil && p.of != "" {
		err = seen.Update(p.of)
	}
	return seen, err
}

// Between reports whether the position is between two transactions.
func (p Position) Between() bool { return p.given == 0 }

// Bound is a position that divides the transactions of a log into those before it and those after it.
type Bound struct {
	flavor link.Flavor
	text   string
	seen   mysql.GTIDSet
}

// Bound returns the bound at the position, which must be between two transactions.
func (p Position) Bound() (Bound, error) { return ParseBound(string(p.flavor) + "|" + p.seen) }

// ParseBound parses the text of [Bound.String].
func ParseBound(text string) (Bound, error) {
	flavor, seen, _ := strings.Cut(text, "|")
	set, err := parseSet(link.Flavor(flavor), seen)
	if err != nil {
		return Bound{}, fmt.Errorf("bound %q: %w", text, err)
	}
	return Bound{link.Flavor(flavor), text, set}, nil
}

func (b Bound) String() string { return b.text }

// Passed reports whether everything before the bound is before the position as well.
func (b Bound) Passed(p Position) bool {
	return p.Covers(Position{flavor: b.flavor, seen: b.seen.String()})
}

// Transaction is one transaction of a log.
type Transaction struct{ gtid mysql.GTIDSet }

// Transaction returns the transaction that the position is within.
func (p Position) Transaction() (Transaction, error) {
	if p.Between() {
		return Transaction{}, fmt.Errorf("position %s is between two transactions", p)
	}
	gtid, err := parseSet(p.flavor, p.of)
	return Transaction{gtid}, err
}

// Before reports whether the transaction is before a bound.
func (t Transaction) Before(b Bound) bool { return contains(b.seen, t.gtid) }
