package session

import (
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// cellExpressions caches the values of expressions in the rows of INSERTs that a shard has computed. They depend on the settings alone.
type cellExpressions struct {
	under  *backend.Settings
	values map[string]stmt.Value
}

// mostCellExpressions is the number of values that are cached.
const mostCellExpressions = 1000

// longestCellExpression is the length of the longest text that is cached.
const longestCellExpression = 200

// cellExpression returns the value of an expression in a row of an INSERT, such as ABS(-7). A shard computes it. The value is Unknown
// if it is no whole number and no ASCII text, or if it may be another one where the row is inserted.
func (s *Session) cellExpression(text string) stmt.Value {
	c := &s.cells
	if c.under != s.vars.Settings || len(c.values) >= mostCellExpressions {
		c.under, c.values = s.vars.Settings, map[string]stmt.Value{}
	}
	value, known := c.values[text]
	if !known {
		value = s.computeCell("SELECT " + text + "\nAS v")
		if len(text) <= longestCellExpression {
			c.values[text] = value
		}
	}
	return value
}

func (s *Session) computeCell(query string) stmt.Value {
	const varies = stmt.SetsUserVariable | stmt.ReadsInsertID | stmt.SetsInsertID | stmt.ReadsRowCount | stmt.ReadsConnectionID | stmt.NamedLock |
		stmt.ReadsNamedLock | stmt.ReadsClock | stmt.Volatile | stmt.OneServer | stmt.UnknownFunction | stmt.IntoTarget
	settings := s.vars.Settings
	p, err := s.planQuery(query, settings.Database())
	if err != nil || s.vars.Foreign {
		return stmt.Value{}
	}
	facts := p.About().Statement
	if _, alike := p.(*plan.AnyShard); !alike || facts.Features&varies != 0 || len(facts.Tables) > 0 || len(facts.Blocks) != 1 {
		return stmt.Value{}
	}
	rows, err := exec.FirstShard{Engine: s.engine, Plan: s.planQuery}.Compute(settings.With("character_set_results", "'utf8mb4'"), query)
	if err != nil || len(rows.Rows) != 1 || len(rows.Columns) != 1 {
		return stmt.Value{}
	}
	return cellValue(rows.Columns[0], rows.Rows[0][0])
}

// binaryCharset is the character set of columns without one.
const binaryCharset = 63

// cellValue returns a value that servers store like the expression that has it.
func cellValue(c wire.Column, text []byte) stmt.Value {
	switch {
	case text == nil:
		return stmt.Value{}
	case c.Type == mysql.MYSQL_TYPE_LONGLONG || c.Type == mysql.MYSQL_TYPE_LONG || c.Type == mysql.MYSQL_TYPE_INT24 || c.Type == mysql.MYSQL_TYPE_SHORT || c.Type == mysql.MYSQL_TYPE_TINY:
		if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return stmt.IntValue(n)
		}
		if n, err := strconv.ParseUint(string(text), 10, 64); err == nil {
			return stmt.UintValue(n)
		}
	case (c.Type == mysql.MYSQL_TYPE_VAR_STRING || c.Type == mysql.MYSQL_TYPE_STRING) && c.Charset != binaryCharset && exec.IsASCII(string(text)):
		return stmt.Value{Kind: stmt.String, Text: text}
	}
	return stmt.Value{}
}
