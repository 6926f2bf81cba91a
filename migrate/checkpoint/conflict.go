package checkpoint

import (
	"context"
	"fmt"
	"time"

	"locus/migrate/link"
)

// Conflict is a refused row.
type Conflict struct {
	ID                 string
	Table, Reason      string
	Incoming, Standing []byte // the values as SQL; nil if there was no row
	Position           string
	At                 time.Time
}

// AppendConflict appends the statement that stores a conflict.
func AppendConflict(b []byte, job string, c Conflict) []byte {
	return fmt.Appendf(b, "INSERT INTO locus.move_conflict (job, table_name, reason, incoming, standing, position) VALUES (%s, %s, %s, %s, %s, %s)",
		link.Text(job), link.Text(c.Table), link.Text(c.Reason), image(c.Incoming), image(c.Standing), link.Text(c.Position))
}

// Conflicts reads the newest conflicts of a job, at most n.
func Conflicts(ctx context.Context, c *link.Conn, job string, n int) ([]Conflict, error) {
	rows, err := c.Query(ctx, fmt.Sprintf("SELECT id, table_name, reason, incoming, standing, position, at FROM locus.move_conflict WHERE job = %s ORDER BY id DESC LIMIT %d",
		link.Text(job), n))
	if err != nil {
		return nil, fmt.Errorf("read the conflicts of job %s: %w", job, err)
	}
	conflicts := make([]Conflict, len(rows))
	for i, r := range rows {
		at, err := time.Parse("2006-01-02 15:04:05.000", string(r[6]))
		if err != nil {
			return nil, err
		}
		conflicts[i] = Conflict{ID: string(r[0]), Table: string(r[1]), Reason: string(r[2]), Incoming: r[3], Standing: r[4], Position: string(r[5]), At: at}
	}
	return conflicts, nil
}
