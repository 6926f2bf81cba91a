package checkpoint

import (
	"context"
	"fmt"
	"strconv"

	"locus/migrate/link"
)

// Activity is a kind of work that traverses lanes.
type Activity string

const (
	Copy   Activity = "copy"
	Verify Activity = "verify"
)

// Lane is the progress of one lane.
type Lane struct {
	Through     []byte // the encoded key up to which it is done
	Done        bool
	Rows, Bytes uint64
}

// Lanes reads the progress of a job's lanes. Lanes that have not begun are missing.
func Lanes(ctx context.Context, c *link.Conn, job string, a Activity) (map[string]Lane, error) {
	rows, err := c.Query(ctx, "SELECT lane, through, done, row_count, byte_count FROM locus.move_lane WHERE job = "+link.Text(job)+" AND activity = "+link.Text(string(a)))
	if err != nil {
		return nil, fmt.Errorf("read how far job %s is: %w", job, err)
	}
	lanes := map[string]Lane{}
	for _, r := range rows {
		l := Lane{Through: r[1], Done: string(r[2]) != "0"}
		if l.Rows, err = strconv.ParseUint(string(r[3]), 10, 64); err != nil {
			return nil, err
		}
		if l.Bytes, err = strconv.ParseUint(string(r[4]), 10, 64); err != nil {
			return nil, err
		}
		lanes[string(r[0])] = l
	}
	return lanes, nil
}

// LaneSQL returns the statement that stores a lane's progress.
func LaneSQL(job string, a Activity, lane string, l Lane) string {
	done := 0
	if l.Done {
		done = 1
	}
	return fmt.Sprintf("REPLACE INTO locus.move_lane (job, activity, lane, through, done, row_count, byte_count) VALUES (%s, %s, %s, %s, %d, %d, %d)",
		link.Text(job), link.Text(string(a)), link.Text(lane), link.Text(string(l.Through)), done, l.Rows, l.Bytes)
}

// Restart deletes an activity's progress, so that it begins again.
func Restart(ctx context.Context, c *link.Conn, job string, a Activity) error {
	_, err := c.Exec(ctx, "DELETE FROM locus.move_lane WHERE job = "+link.Text(job)+" AND activity = "+link.Text(string(a)))
	if err != nil {
		return fmt.Errorf("restart %s of job %s: %w", a, job, err)
	}
	return nil
}
