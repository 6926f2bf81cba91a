package session

import (
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// diagnostic is one row of SHOW WARNINGS.
type diagnostic struct {
	level, code, message string
}

// mostWarnings is what is kept of one statement's at most; max_error_count is 64
// on MariaDB and 1024 on MySQL unless it is set.
const mostWarnings = 1024

// keepWarnings fetches a statement's warnings while the connection is still the
// session's.
func (s *Session) keepWarnings(l lease) {
	rows, err := l.conn.Query(s.ctx, "SHOW WARNINGS LIMIT "+strconv.Itoa(mostWarnings))
	if err != nil {
		return
	}
	for _, row := range rows.Rows {
		if len(row) == 3 {
			s.warnings = append(s.warnings, diagnostic{string(row[0]), string(row[1]), string(row[2])})
		}
	}
}

func (s *Session) noteError(e *mysql.MyError) {
	s.warnings = append(s.warnings[:0], diagnostic{"Error", uitoa(uint64(e.Code)), e.Message})
}

func (s *Session) showWarnings() error {
	rows := make([][]string, 0, len(s.warnings))
	for _, w := range s.warnings {
		rows = append(rows, []string{w.level, w.code, w.message})
	}
	return s.writeTable([]string{"Level", "Code", "Message"}, rows)
}
