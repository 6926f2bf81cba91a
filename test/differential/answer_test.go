package differential

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// answer is the answer of one side.
type answer struct {
	columns  []string // names and types
	rows     []string
	affected int64
	number   uint16 // error number; 0: no error
	err      error
}

// refused reports whether the proxy refused the statement with the code for unsupported statements.
func (a *answer) refused() bool {
	return a.err != nil && strings.Contains(a.err.Error(), "locus-")
}

func (a *answer) String() string {
	if a.err != nil {
		return "error: " + a.err.Error()
	}
	if a.columns == nil {
		return fmt.Sprintf("%d rows affected", a.affected)
	}
	shown := a.rows
	more := ""
	if len(shown) > 30 {
		shown, more = shown[:30], fmt.Sprintf("\n    … %d rows", len(a.rows))
	}
	return strings.Join(a.columns, ", ") + "\n    " + strings.Join(shown, "\n    ") + more
}

// ask runs a statement on a connection.
func ask(ctx context.Context, conn *sql.Conn, s *statement, plain bool) *answer {
	query, args := s.asked(plain)
	a := &answer{}
	if strings.Contains(strings.ToUpper(query), "LAST_INSERT_ID") {
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("SET last_insert_id = %d", s.insertID)); err != nil {
			a.fail(err)
			return a
		}
	}
	if !s.prepared {
		a.run(ctx, s, conn.QueryContext, conn.ExecContext, query, nil)
		return a
	}
	p, err := conn.PrepareContext(ctx, query)
	if err != nil {
		a.fail(err)
		return a
	}
	defer p.Close()
	a.run(ctx, s, func(ctx context.Context, _ string, args ...any) (*sql.Rows, error) {
		return p.QueryContext(ctx, args...)
	},
		func(ctx context.Context, _ string, args ...any) (sql.Result, error) {
			return p.ExecContext(ctx, args...)
		}, query, args)
	return a
}

func (a *answer) run(ctx context.Context, s *statement, query func(context.Context, string, ...any) (*sql.Rows, error),
	exec func(context.Context, string, ...any) (sql.Result, error), text string, args []any,
) {
	if s.writes != nil {
		r, err := exec(ctx, text, args...)
		if err != nil {
			a.fail(err)
			return
		}
		a.affected, _ = r.RowsAffected()
		return
	}
	ctx, leave := context.WithCancel(ctx) // the rest of a long answer isn't read
	rows, err := query(ctx, text, args...)
	if err != nil {
		leave()
		a.fail(err)
		return
	}
	defer rows.Close()
	defer leave()
	a.read(rows)
}

// mostRows is the number of rows up to which answers are compared. Joins without a condition have many millions
// of rows, which would cost too much time and memory. Of longer answers both must be too long.
const mostRows = 100_000

var errTooLarge = errors.New("more rows than are compared")

func (a *answer) fail(err error) {
	a.err, a.number = err, 0xffff
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		a.number = e.Number
	}
}

func (a *answer) read(rows *sql.Rows) {
	types, err := rows.ColumnTypes()
	if err != nil {
		a.fail(err)
		return
	}
	a.columns = []string{}
	for _, t := range types {
		// MySQL makes INT expressions BIGINT where its optimizer takes a temporary
		// table, which depends on the rows.
		typed := strings.TrimSuffix(t.DatabaseTypeName(), "BIGINT")
		if typed != t.DatabaseTypeName() {
			typed += "INT"
		}
		// With IGNORE_SPACE, MySQL's column names include the blanks after the expression. There are more of
		// them if the plain server's text had a comment there.
		a.columns = append(a.columns, strings.TrimRight(t.Name(), " ")+" "+typed)
	}
	values, pointers := make([]any, len(types)), make([]any, len(types))
	for i := range values {
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			a.fail(err)
			return
		}
		if len(a.rows) == mostRows {
			a.rows = nil
			a.fail(errTooLarge)
			return
		}
		a.rows = append(a.rows, shown(values))
	}
	if err := rows.Err(); err != nil {
		a.fail(err)
	}
}

func shown(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(" | ")
		}
		switch v := v.(type) {
		case nil:
			b.WriteString("NULL")
		case []byte:
			fmt.Fprintf(&b, "%q", v)
		default:
			fmt.Fprint(&b, v)
		}
	}
	return b.String()
}

// mixes reports whether an error is about two, three or more strings with different collations.
func mixes(number uint16) bool { return number == 1267 || number == 1270 || number == 1271 }

// MySQL's errors of a text that isn't in the client's character set: as a literal, and as a parameter.
const erLiteralUnconverted, erParameterUnconverted = 3854, 3988

// reprepared matches the replacement that MySQL writes for a comment that it skips. It appears in column names
// when MySQL prepares a statement again for a parameter of another type.
var reprepared = regexp.MustCompile(`(?s)/\* \d{5}.*?\*/`)

// differ describes how the proxy's answer is wrong. It returns an empty string if it isn't.
func differ(s *statement, proxy, plain *answer) string {
	switch {
	case proxy.refused():
		return ""
	case s.several && proxy.err != nil && plain.err != nil:
		return "" // the two errors may be about different rows
	case mixes(proxy.number) && mixes(plain.number):
		return "" // servers differ in which of several mixes of collations they report
	case proxy.number == erLiteralUnconverted && plain.number == erParameterUnconverted:
		return "" // about the same text, in which a gathered read has literals in place of parameters
	case proxy.number != plain.number:
		return "one side has an error, or another error"
	case proxy.err != nil:
		return ""
	case !slices.EqualFunc(proxy.columns, plain.columns, func(a, b string) bool {
		return a == b || s.viewed && strings.EqualFold(a, b) || // MySQL names a column of a derived table as the derived table does
			s.prepared && a == reprepared.ReplaceAllString(b, "")
	}):
		return "columns"
	case proxy.affected != plain.affected:
		return "affected rows"
	case len(proxy.rows) != len(plain.rows):
		return "number of rows"
	case s.order == counted:
		return ""
	case s.order == ordered && slices.Equal(proxy.rows, plain.rows):
		return ""
	case !slices.Equal(slices.Sorted(slices.Values(proxy.rows)), slices.Sorted(slices.Values(plain.rows))):
		return "rows"
	case s.order == ordered:
		return "order of rows"
	}
	return ""
}
