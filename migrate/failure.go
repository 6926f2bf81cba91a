package migrate

import (
	"errors"
	"fmt"
	"strings"

	"locus/migrate/changes"
	"locus/migrate/preflight"
)

// refusedError is what preflight found, all of it.
type refusedError struct{ problems []preflight.Problem }

func (e *refusedError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "; ")
}

// differencesError is a comparison that found the two servers different.
type differencesError struct{ what string }

func (e *differencesError) Error() string { return e.what }

// hopeless tells what no repetition mends, and what does.
func hopeless(err error) (why, remedy string, final bool) {
	var refused *refusedError
	var schema *changes.SchemaError
	var rows *changes.RowsError
	switch {
	case errors.As(err, &refused):
		return refused.Error(), "mend what is named, then locus resume the job, or locus abort it", true
	case errors.As(err, &schema):
		return err.Error(), "make both servers' tables alike, locus abort the job, and begin anew", true
	case errors.As(err, &rows):
		return err.Error(), "set binlog_format = ROW and binlog_row_image = FULL on both servers, locus abort the job, and begin anew", true
	case errors.Is(err, changes.ErrPurged):
		return err.Error(), "raise the servers' binlog retention, locus abort the job, and begin anew", true
	case errors.Is(err, changes.ErrOtherLog):
		return err.Error(), "the shard's primary has changed: locus abort the job, and begin anew", true
	}
	return "", "", false
}

func problemText(format string, args ...any) error {
	return &differencesError{fmt.Sprintf(format, args...)}
}
