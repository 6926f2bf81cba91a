package migrate

import (
	"errors"
	"fmt"
	"strings"

	"locus/internal/steps"
	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
)

// refusedError reports all problems that preflight found.
type refusedError struct{ problems []preflight.Problem }

func (e *refusedError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// lostError reports that a server lacks data that its shard had earlier: it became the primary without them, or
// was restored to an earlier state.
type lostError struct {
	what string
	back bool // the reverse stream depends on the data; otherwise the target's rows do
}

func (e *lostError) Error() string { return e.what }

func (e *lostError) remedy() string {
	if e.back {
		return "resume the job with locus resume: the reverse stream starts again, and a comparison lists the rows that the target has lost or has in an earlier state; locus repair with --take source restores these on the target"
	}
	return "abort the job with locus abort, which deletes the target's rows once no genes are there, and start it again"
}

// remedy returns the advice for an action that has failed for too long.
func remedy(err error, id string) string {
	if missing, is := errors.AsType[*steps.MissingError](err); is {
		return missingRemedy(missing, id)
	}
	return "fix it, then locus resume " + id
}

// missingRemedy returns the advice for a job that waits for processes.
func missingRemedy(e *steps.MissingError, id string) string {
	return fmt.Sprintf("SHOW PROCESSLIST at proxy %s lists what is open there: end it, or end the proxy; then locus resume %s", e.Missing[0].Process, id)
}

// hopeless reports whether retrying an error is useless, and returns its reason and remedy.
func hopeless(err error) (why, remedy string, final bool) {
	var refused *refusedError
	var schema *changes.SchemaError
	var rows *changes.RowsError
	var typed *table.TypedError
	var lost *lostError
	var misfits *misfitsError
	var views *viewsError
	switch {
	case errors.As(err, &misfits):
		return misfits.Error(), misfits.remedy + ", then resume the job with locus resume", true
	case errors.As(err, &views) && link.Code(views.cause) != 0:
		return err.Error(), views.remedy() + "; then resume the job with locus resume", true
	case errors.As(err, &refused):
		return refused.Error(), "fix what the error names, then resume the job with locus resume, or abort it with locus abort", true
	case errors.As(err, &schema):
		return err.Error(), "make both servers' tables equal, abort the job with locus abort, and start it again", true
	case errors.As(err, &typed):
		return err.Error(), table.TypedRemedy + "; then resume the job with locus resume", true
	case errors.As(err, &rows):
		return err.Error(), "set binlog_format = ROW, binlog_row_image = FULL and on MySQL binlog_row_value_options = '' on both servers, reconnect the clients that wrote to them directly, abort the job with locus abort, and start it again", true
	case errors.As(err, &lost):
		return err.Error(), lost.remedy(), true
	case errors.Is(err, changes.ErrPurged):
		return err.Error(), "raise the servers' binlog retention, abort the job with locus abort, and start it again", true
	}
	return "", "", false
}
