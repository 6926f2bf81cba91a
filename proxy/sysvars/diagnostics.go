package sysvars

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// Diagnostics contains the facts about the previous statement that a client can query.
type Diagnostics struct {
	Conditions []Condition // warnings, errors and notes of the statement
	RowCount   int64       // ROW_COUNT()
	FoundRows  uint64      // FOUND_ROWS()
}

// Condition is one row of SHOW WARNINGS.
type Condition struct {
	level, code, message string
	state                string // SQLSTATE, or "" if the server did not report it
	row                  int    // the statement's row, which is used to sort conditions of several shards
}

const (
	levelWarning = "Warning"
	levelError   = "Error"
)

// MostWarnings is the largest number of warnings that is kept of a statement. By default max_error_count is 64 on MariaDB and 1024 on MySQL.
const MostWarnings = 1024

// AskWarnings is the query for a connection's warnings.
var AskWarnings = "SHOW WARNINGS LIMIT " + strconv.Itoa(MostWarnings)

// Keep adds the warnings that a shard has reported.
func (d *Diagnostics) Keep(rows *backend.Rows) {
	for _, row := range rows.Rows {
		if len(row) == 3 {
			d.Conditions = append(d.Conditions, Condition{level: string(row[0]), code: string(row[1]), message: string(row[2])})
		}
	}
}

// NoteState records the SQLSTATE of the error that ended an answer. The error is the last of that number among the conditions from an index on.
// SIGNAL may combine any SQLSTATE with a number.
func (d *Diagnostics) NoteState(from int, code uint16, state string) {
	list := d.Conditions[from:]
	for i := range slices.Backward(list) {
		if list[i].level == levelError && list[i].code == utoa(code) {
			list[i].state = state
			return
		}
	}
}

// Fail replaces all conditions by an error.
func (d *Diagnostics) Fail(e *mysql.MyError) {
	d.Conditions = append(d.Conditions[:0], Condition{level: levelError, code: utoa(e.Code), message: e.Message, state: e.State})
}

// Warn adds a warning of the proxy. It has the number of ER_UNKNOWN_ERROR, because no number fits better.
func (d *Diagnostics) Warn(message string) {
	d.Conditions = append(d.Conditions, Condition{level: levelWarning, code: utoa(uint16(mysql.ER_UNKNOWN_ERROR)), message: "locus: " + message})
}

// WarnAs adds a warning of the proxy whose text begins with a code. The code does not change from version to version.
func (d *Diagnostics) WarnAs(code, message string) {
	d.Conditions = append(d.Conditions, Condition{level: levelWarning, code: utoa(uint16(mysql.ER_UNKNOWN_ERROR)), message: code + ": " + message})
}

// Note adds a note of the proxy about an error that did not matter.
func (d *Diagnostics) Note(code uint16, message string) {
	d.Conditions = append(d.Conditions, Condition{level: "Note", code: utoa(code), message: "locus: " + message})
}

// NoteServerError adds a server's error as a note, with the server's text.
func (d *Diagnostics) NoteServerError(e *mysql.MyError) {
	d.Conditions = append(d.Conditions, Condition{level: "Note", code: utoa(e.Code), message: e.Message})
}

// TakeConditions removes the conditions, and returns them.
func (d *Diagnostics) TakeConditions() (before []Condition) {
	before, d.Conditions = d.Conditions, nil
	return before
}

// RestoreConditions restores conditions from TakeConditions, if no others were added.
func (d *Diagnostics) RestoreConditions(before []Condition) {
	if len(d.Conditions) == 0 {
		d.Conditions = before
	}
}

// errors returns the number of errors among the conditions: @@error_count.
func (d *Diagnostics) errors() (n int) {
	for _, c := range d.Conditions {
		if c.level == levelError {
			n++
		}
	}
	return n
}

// ShowDiagnostics answers SHOW WARNINGS and SHOW ERRORS.
func (e *Evaluator) ShowDiagnostics(show *stmt.Shown) (columns []wire.Column, rows [][]string, err error) {
	e.RowCount = -1
	for _, c := range e.Conditions {
		if show.What == "warnings" || c.level == levelError {
			rows = append(rows, []string{c.level, c.code, c.message})
		}
	}
	if show.Count {
		e.FoundRows = 1
		rows = [][]string{{strconv.Itoa(len(rows))}}
	} else if rows, err = limited(rows, show.Clause); err != nil {
		return nil, nil, err
	}
	return e.DiagnosticColumns(show), rows, nil
}

// DiagnosticColumns returns the columns of SHOW WARNINGS and similar statements, as the shard defines them for this client. If the shard does not
// answer, the columns are similar.
func (e *Evaluator) DiagnosticColumns(show *stmt.Shown) []wire.Column {
	text := "SHOW " + show.What + " LIMIT 0"
	if show.Count {
		text = "SHOW COUNT(*) " + show.What
	}
	if rows, err := e.Ask(text); err == nil {
		return rows.Columns
	}
	if show.Count {
		return []wire.Column{number("@@session." + strings.TrimSuffix(show.What, "s") + "_count")}
	}
	plain := wire.Column{Charset: textCollation, Type: mysql.MYSQL_TYPE_VAR_STRING}
	level, message := plain, plain
	level.Name, level.Length = []byte("Level"), 4*7
	message.Name, message.Length = []byte("Message"), 4*512
	return []wire.Column{level, number("Code"), message}
}

const (
	textCollation   = 45 // utf8mb4_general_ci, which every server and client knows
	binaryCollation = 63 // of numbers
)

// number returns a column of unsigned integers.
func number(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: binaryCollation, Type: mysql.MYSQL_TYPE_LONG, Flags: mysql.NOT_NULL_FLAG | mysql.UNSIGNED_FLAG, Length: 4}
}

func utoa[N uint16 | uint32 | uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }
