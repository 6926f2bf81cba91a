package moves

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"testing"

	"locus/migrate/applier"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/router/catalog"
)

// looks is the number of queries for rows that the position may not contain.
const looks = 400

// Rows that a query at the source has returned are at the target once the position that the source had after the
// query is applied. MySQL shows rows before it counts their GTIDs, for some milliseconds in one query of a thousand.
func TestAPositionHasWhatWasSeenBefore(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		const counters = 8
		p.both("CREATE TABLE counter (id BIGINT PRIMARY KEY, owner BIGINT NOT NULL, n BIGINT NOT NULL)")
		for i := range counters {
			p.both(fmt.Sprintf("INSERT INTO counter VALUES (%s, %d, 0)", idOf(int64(i), 1), i))
		}
		s := p.stream(applier.Config{Parts: all(1)}, p.read(map[string]catalog.Declaration{"counter": byID}))
		stop := p.writers(counters, func(db *sql.DB, writer, _ int) error {
			_, err := db.ExecContext(context.WithoutCancel(t.Context()), "UPDATE counter SET n = n + 1 WHERE owner = ?", writer)
			return err
		})
		defer stop()
		source, target := p.dial(p.source), p.dial(p.target)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for range looks {
			seen := p.counted(ctx, source)
			here, err := changes.Current(ctx, source)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.WaitApplied(ctx, here); err != nil {
				t.Fatal(err)
			}
			if there := p.counted(ctx, target); there < seen {
				t.Fatalf("%d changes were seen, and %d are at the target after %s", seen, there, here)
			}
		}
	})
}

func (p *pair) counted(ctx context.Context, c *link.Conn) int64 {
	p.t.Helper()
	rows, err := c.Query(ctx, "SELECT SUM(n) FROM "+p.database+".counter")
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := strconv.ParseInt(string(rows[0][0]), 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}
