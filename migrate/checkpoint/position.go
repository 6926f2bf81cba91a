package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"locus/migrate/link"
)

// Worker is the progress of one worker in applying a job's stream.
type Worker struct {
	Position  string // empty until the job has begun
	Batch     uint64 // increases with every write
	Changes   uint64 // applied since the job began
	Conflicts uint64
}

// ErrFenced means that another process has taken over the job. Nothing was applied. The caller must stop.
var ErrFenced = errors.New("another process has taken the job over")

// TakeOver makes the caller the only process that may write positions of a job with n workers, and returns their
// progress. A process that held the job before is refused from now on.
func TakeOver(ctx context.Context, c *link.Conn, job string, n int) (epoch uint64, workers []Worker, err error) {
	if workers, err = takeOver(ctx, c, job, n, &epoch); err != nil {
		if c.Broken() == nil {
			_, rollback := c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollback)
		}
		return 0, nil, fmt.Errorf("take job %s over: %w", job, err)
	}
	return epoch, workers, nil
}

func takeOver(ctx context.Context, c *link.Conn, job string, n int, epoch *uint64) ([]Worker, error) {
	if _, err := c.Exec(ctx, "START TRANSACTION"); err != nil {
		return nil, err
	}
	for i := range n {
		if _, err := c.Exec(ctx, fmt.Sprintf("INSERT INTO locus.move_position (job, worker, position) VALUES (%s, %d, '')"+
			" ON DUPLICATE KEY UPDATE epoch = epoch + 1, batch = batch + 1", link.Text(job), i)); err != nil {
			return nil, err
		}
	}
	rows, err := c.Query(ctx, "SELECT position, epoch, batch, changes, conflicts FROM locus.move_position WHERE job = "+link.Text(job)+" ORDER BY worker")
	if err != nil {
		return nil, err
	}
	if len(rows) != n {
		return nil, fmt.Errorf("it was begun with %d workers and can't go on with %d", len(rows), n)
	}
	workers := make([]Worker, n)
	for i, r := range rows {
		var numbers [4]uint64
		for k := range numbers {
			if numbers[k], err = strconv.ParseUint(string(r[k+1]), 10, 64); err != nil {
				return nil, err
			}
		}
		*epoch = max(*epoch, numbers[0])
		workers[i] = Worker{Position: string(r[0]), Batch: numbers[1], Changes: numbers[2], Conflicts: numbers[3]}
	}
	// All workers get one epoch, even if an earlier takeover was interrupted.
	if _, err := c.Exec(ctx, fmt.Sprintf("UPDATE locus.move_position SET epoch = %d WHERE job = %s", *epoch, link.Text(job))); err != nil {
		return nil, err
	}
	_, err = c.Exec(ctx, "COMMIT")
	return workers, err
}

// Advance is one step of a worker.
type Advance struct {
	Job           string
	Worker        int
	Epoch         uint64
	Batch         uint64 // number of this step
	Position      string // empty leaves the position unchanged
	MoreChanges   int
	MoreConflicts int
}

// SQL returns the step's statement. It changes exactly one row. If it changes none, the job was taken over, and the
// transaction must be rolled back.
func (a Advance) SQL() string {
	position := ""
	if a.Position != "" {
		position = ", position = " + link.Text(a.Position)
	}
	return fmt.Sprintf("UPDATE locus.move_position SET batch = %d, changes = changes + %d, conflicts = conflicts + %d%s WHERE job = %s AND worker = %d AND epoch = %d",
		a.Batch, a.MoreChanges, a.MoreConflicts, position, link.Text(a.Job), a.Worker, a.Epoch)
}

// Batch reads a worker's last committed step. From it a caller learns whether a commit without an answer took place.
func Batch(ctx context.Context, c *link.Conn, job string, worker int, epoch uint64) (uint64, error) {
	rows, err := c.Query(ctx, fmt.Sprintf("SELECT batch, epoch FROM locus.move_position WHERE job = %s AND worker = %d", link.Text(job), worker))
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || string(rows[0][1]) != strconv.FormatUint(epoch, 10) {
		return 0, ErrFenced
	}
	return strconv.ParseUint(string(rows[0][0]), 10, 64)
}

// Raise makes the caller the only process that may write under a job's positions, as TakeOver does, if there are any.
// begun is false for a job that never began or was forgotten.
func Raise(ctx context.Context, c *link.Conn, job string) (epoch uint64, begun bool, err error) {
	o, err := c.Exec(ctx, "UPDATE locus.move_position SET epoch = LAST_INSERT_ID(epoch + 1) WHERE worker = 0 AND job = "+link.Text(job))
	switch {
	case None(err):
		return 0, false, nil
	case err != nil:
		return 0, false, fmt.Errorf("take job %s over: %w", job, err)
	case o.Affected == 0:
		return 0, false, nil
	}
	rows, err := c.Query(ctx, "SELECT LAST_INSERT_ID()")
	if err != nil {
		return 0, false, err
	}
	epoch, err = strconv.ParseUint(string(rows[0][0]), 10, 64)
	return epoch, true, err
}

// Positions returns the encoded position of each of a job's workers. It is empty for one that has not begun.
func Positions(ctx context.Context, c *link.Conn, job string) ([]string, error) {
	rows, err := c.Query(ctx, "SELECT position FROM locus.move_position WHERE job = "+link.Text(job))
	if err != nil {
		return nil, fmt.Errorf("read how far job %s is: %w", job, err)
	}
	positions := make([]string, len(rows))
	for i, r := range rows {
		positions[i] = string(r[0])
	}
	return positions, nil
}

const (
	noSuchSchema = 1049
	noSuchTable  = 1146
)

// None reports whether the tables of this package don't exist.
func None(err error) bool { return link.Code(err) == noSuchSchema || link.Code(err) == noSuchTable }

// Within runs do in a transaction. It rolls back with ErrFenced if the job was taken over since the epoch, or was
// forgotten.
func Within(ctx context.Context, c *link.Conn, job string, epoch uint64, do func() error) error {
	if _, err := c.Exec(ctx, "START TRANSACTION"); err != nil {
		return err
	}
	o, err := c.Exec(ctx, fmt.Sprintf("UPDATE locus.move_position SET batch = batch + 1 WHERE worker = 0 AND job = %s AND epoch = %d", link.Text(job), epoch))
	if err == nil && o.Affected != 1 {
		err = ErrFenced
	}
	if err == nil {
		err = do()
	}
	if err == nil {
		_, err = c.Exec(ctx, "COMMIT")
	}
	if err != nil && c.Broken() == nil {
		_, rollback := c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rollback)
	}
	return err
}

// Hold locks a job for the caller until its transaction ends. It returns ErrFenced if the job was taken over since the
// epoch. It writes nothing, so it doesn't affect the worker's step numbers.
func Hold(ctx context.Context, c *link.Conn, job string, epoch uint64) error {
	rows, err := c.Query(ctx, fmt.Sprintf("SELECT 1 FROM locus.move_position WHERE job = %s AND worker = 0 AND epoch = %d LOCK IN SHARE MODE", link.Text(job), epoch))
	if err == nil && len(rows) != 1 {
		err = ErrFenced
	}
	return err
}
