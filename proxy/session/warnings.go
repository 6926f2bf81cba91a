package session

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// diagnostic is one row of SHOW WARNINGS.
type diagnostic struct {
	level, code, message string
	state                string // SQLSTATE, where it was told
}

// mostWarnings is what is kept of one statement's at most; max_error_count is 64
// on MariaDB and 1024 on MySQL unless it is set.
const mostWarnings = 1024

// keepWarnings fetches a statement's warnings while the connection is still the
// session's.
func (s *Session) keepWarnings(l lease) {
	rows, err := l.conn.Own().Query(s.ctx, "SHOW WARNINGS LIMIT "+strconv.Itoa(mostWarnings))
	if err != nil {
		return
	}
	from := len(s.warnings)
	s.appendWarnings(rows)
	if code, failed := s.scanner.ErrCode(); failed {
		s.noteState(s.warnings[from:], code)
	}
}

// noteState keeps the SQLSTATE of the error that ended an answer: SIGNAL may give any
// to a number.
func (s *Session) noteState(list []diagnostic, code uint16) {
	for i := range slices.Backward(list) {
		if list[i].level == "Error" && list[i].code == uitoa(uint64(code)) {
			list[i].state = s.scanner.ErrState()
			return
		}
	}
}

func (s *Session) appendWarnings(rows *backend.Rows) {
	for _, row := range rows.Rows {
		if len(row) == 3 {
			s.warnings = append(s.warnings, diagnostic{level: string(row[0]), code: string(row[1]), message: string(row[2])})
		}
	}
}

func (s *Session) noteError(e *mysql.MyError) {
	if t := s.timing.trace; t != nil {
		t.Code = e.Code
	}
	s.warnings = append(s.warnings[:0], diagnostic{level: "Error", code: uitoa(uint64(e.Code)), message: e.Message, state: e.State})
}

// showWarnings answers SHOW WARNINGS and SHOW ERRORS.
func (s *Session) showWarnings(r *request) error {
	show := r.plan.Statement.Shown
	s.rowCount = -1
	var rows [][]string
	for _, w := range s.warnings {
		if show.What == "warnings" || w.level == "Error" {
			rows = append(rows, []string{w.level, w.code, w.message})
		}
	}
	if show.Count {
		s.foundRows = 1
		return s.writeColumns(s.diagnosticColumns(show), [][]string{{strconv.Itoa(len(rows))}})
	}
	rows, err := limited(rows, show.Clause)
	if err != nil {
		return err
	}
	return s.writeColumns(s.diagnosticColumns(show), rows)
}

// diagnosticColumns are the columns of SHOW WARNINGS and its kin as the first
// shard defines them for this client; where none can be asked, they are much like
// it.
func (s *Session) diagnosticColumns(show *stmt.Shown) []wire.Column {
	text := "SHOW " + show.What + " LIMIT 0"
	if show.Count {
		text = "SHOW COUNT(*) " + show.What
	}
	columns, _, err := s.askFirst(text, backend.Nothing)
	if err != nil {
		return plainDiagnosticColumns(show)
	}
	return columns
}

func plainDiagnosticColumns(show *stmt.Shown) []wire.Column {
	if show.Count {
		return []wire.Column{number("@@session." + strings.TrimSuffix(show.What, "s") + "_count")}
	}
	text := wire.Column{Charset: textCollation, Type: mysql.MYSQL_TYPE_VAR_STRING}
	level, message := text, text
	level.Name, level.Length = []byte("Level"), 4*7
	message.Name, message.Length = []byte("Message"), 4*512
	return []wire.Column{level, number("Code"), message}
}

// binaryCollation is that of numbers and bytes.
const binaryCollation = 63

// number is a column of unsigned integers.
func number(name string) wire.Column {
	return wire.Column{Name: []byte(name), Charset: binaryCollation, Type: mysql.MYSQL_TYPE_LONG, Flags: mysql.NOT_NULL_FLAG | mysql.UNSIGNED_FLAG, Length: 4}
}

// limited applies LIMIT [offset,] count.
func limited(rows [][]string, clause string) ([][]string, error) {
	numbers := strings.FieldsFunc(strings.ToLower(clause), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' })
	if len(numbers) == 0 {
		return rows, nil
	}
	if len(numbers) == 4 && numbers[2] == "offset" {
		numbers = []string{numbers[0], numbers[3], numbers[1]}
	}
	window := [2]uint64{0, math.MaxUint64} // offset, count
	for i, at := range map[int][]int{2: {1}, 3: {0, 1}}[len(numbers)] {
		n, err := strconv.ParseUint(numbers[i+1], 10, 64)
		if err != nil {
			return nil, badLimit()
		}
		window[at] = n
	}
	rows = rows[min(window[0], uint64(len(rows))):]
	return rows[:min(window[1], uint64(len(rows)))], nil
}

// errorCount is @@error_count.
func (s *Session) errorCount() int {
	n := 0
	for _, w := range s.warnings {
		if w.level == "Error" {
			n++
		}
	}
	return n
}
