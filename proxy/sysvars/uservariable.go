package sysvars

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// AskUserVariables returns the query for the values of user variables.
func AskUserVariables(names []string) string {
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = valueFields(quotedVariable(name))
	}
	return "SELECT " + strings.Join(fields, ", ")
}

// AskAssigned returns the query for which user variables have a value: 1, or 0 for NULL.
func AskAssigned(names []string) string {
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = quotedVariable(name) + " IS NOT NULL"
	}
	return "SELECT " + strings.Join(fields, ", ")
}

// quotedVariable returns a user variable as SQL.
func quotedVariable(name string) string { return "@`" + strings.ReplaceAll(name, "`", "``") + "`" }

// WithUserVariables returns settings with the values from an answer to AskUserVariables, and the names of these settings. It returns nil if a
// value is missing in the answer: it was too large for the shard to return it without a loss.
func WithUserVariables(settings *backend.Settings, names []string, rows *backend.Rows) (next *backend.Settings, carried []string) {
	if !hasValues(rows, len(names)) {
		return nil, nil
	}
	value := rows.Rows[0]
	for i, name := range names {
		if value[4*i] != nil && value[4*i+1] == nil {
			return nil, nil
		}
		literal := valueLiteral(rows, 0, 4*i)
		if charset, collation := value[4*i+2], value[4*i+3]; literal == "NULL" && len(charset) > 0 && string(charset) != "binary" {
			literal = nullText + string(charset) + ") COLLATE " + string(collation)
		}
		carried = append(carried, variableName(name))
		settings = settings.With(carried[i], literal)
	}
	return settings, carried
}

// UserVariables returns the names of the session's user variables.
func (v *Values) UserVariables() (names []string) {
	for _, a := range v.Settings.Assignments() {
		if name, user := strings.CutPrefix(a.Name, "@"); user {
			if quoted, is := strings.CutPrefix(name, "`"); is {
				name = strings.ReplaceAll(strings.TrimSuffix(quoted, "`"), "``", "`")
			}
			names = append(names, name)
		}
	}
	return names
}

// nullText begins a NULL with a text's character set. MySQL uses that set when it reads later statements.
const nullText = "CONVERT(NULL USING "

// variableName returns the name of a user variable in settings.
func variableName(name string) string {
	if plainName(name) {
		return "@" + name
	}
	return quotedVariable(name)
}

// valueFields returns the fields that represent a value without a loss: the value itself, its bytes, its character set and its collation.
func valueFields(expression string) string {
	return expression + ", HEX(" + expression + "), CHARSET(" + expression + "), COLLATION(" + expression + ")"
}

// hasValues reports whether an answer is one row of n values in the form of valueFields.
func hasValues(rows *backend.Rows, n int) bool {
	return len(rows.Rows) == 1 && len(rows.Columns) == 4*n
}

// valueLiteral returns a value in the form of valueFields as a constant.
func valueLiteral(rows *backend.Rows, row, at int) string {
	value, columns := rows.Rows[row], rows.Columns
	switch t := columns[at].Type; {
	case value[at] == nil:
		return "NULL"
	case t == mysql.MYSQL_TYPE_FLOAT, t == mysql.MYSQL_TYPE_DOUBLE:
		number := string(value[at])
		if !strings.ContainsAny(number, "eE") {
			number += "e0" // otherwise it would be a decimal
		}
		return number
	case numeric(t):
		return string(value[at])
	case string(value[at+2]) == "binary":
		return "_binary X'" + string(value[at+1]) + "'"
	}
	return "_" + string(value[at+2]) + " X'" + string(value[at+1]) + "' COLLATE " + string(value[at+3])
}

// numeric reports whether the values of a column type are numbers.
func numeric(columnType byte) bool {
	return columnType <= mysql.MYSQL_TYPE_DOUBLE || columnType == mysql.MYSQL_TYPE_LONGLONG ||
		columnType == mysql.MYSQL_TYPE_INT24 || columnType == mysql.MYSQL_TYPE_NEWDECIMAL
}

// assignUser runs SET @name = value.
func (s *Set) assignUser(v stmt.Variable) (err error) {
	var literal string
	if expression := s.asExpression(v); expression != "" {
		literal, err = s.state.ComputeValue(expression)
	} else if literal, err = s.literal(v); err == nil {
		literal = collated(literal, s.Settings)
	}
	if err == nil {
		s.Settings = s.Settings.With(variableName(v.Name), literal)
	}
	return err
}

// asExpression returns a value as SQL if the shard must compute it. It returns "" for a constant in the character set of SET
// NAMES.
func (s *Set) asExpression(v stmt.Variable) string {
	_, charset := s.state.Settings.Lookup(characterSetConnection)
	_, collation := s.state.Settings.Lookup(collationConnection)
	plain := v.Expression == "" && v.Value.Kind == stmt.String && !bytes.ContainsRune(v.Value.Text, '\\')
	if plain && (charset || collation) {
		return "'" + strings.ReplaceAll(string(v.Value.Text), "'", "''") + "'"
	}
	return v.Expression
}

// UserVariable returns the value of a user variable as a constant. It returns NULL if the variable was never assigned.
func (v *Values) UserVariable(name string) string {
	literal, ok := v.Settings.Lookup(variableName(name))
	if !ok || strings.HasPrefix(literal, nullText) {
		return "NULL"
	}
	return Uncollated(literal)
}

// UserValue returns the value of a user variable. The value is unknown if it is a text in a character set with other bytes
// than UTF-8.
func (v *Values) UserValue(name string) stmt.Value {
	lexed := &stmt.Lexed{}
	lexed.Lex([]byte("INSERT INTO t VALUES ("+v.UserVariable(name)+")"), v.Mode)
	if lexed.Err != nil || len(lexed.Cells) != 1 {
		return stmt.Value{}
	}
	args := stmt.Args{Lexed: lexed, Foreign: v.Foreign}
	return args.Cell(lexed.Cells[0])
}

// Uncollated returns a constant without its collation.
func Uncollated(literal string) string {
	bare, _, _ := strings.Cut(literal, " COLLATE ")
	return bare
}

// UserText returns the text in a user variable.
func (e *Evaluator) UserText(name string) (string, error) {
	literal := e.UserVariable(name)
	if notUTF8(literal) {
		var err error
		if literal, err = e.ComputeValue("CONVERT(" + literal + " USING utf8mb4)"); err != nil {
			return "", err
		}
	}
	return LiteralText(literal, "@"+name)
}

// notUTF8 reports whether a constant is a text in a character set with other bytes than UTF-8.
func notUTF8(literal string) bool {
	charset, _, introduced := strings.Cut(strings.TrimPrefix(literal, "_"), " ")
	if !strings.HasPrefix(literal, "_") {
		return false
	}
	if at := strings.IndexAny(charset, "X'"); at >= 0 {
		charset, introduced = charset[:at], true
	}
	return introduced && !utf8Charsets[charset]
}

// LiteralText returns the text of a constant. of names its source in the error for NULL.
func LiteralText(literal, of string) (string, error) {
	literal = Uncollated(literal)
	if at := strings.IndexAny(literal, "X'"); at >= 0 && strings.HasSuffix(literal, "'") {
		body := strings.Trim(strings.TrimPrefix(literal[at:], "X"), "'")
		if literal[at] != 'X' {
			return body, nil
		}
		text, err := hex.DecodeString(body)
		return string(text), err
	}
	if literal == "NULL" {
		return "", wire.Errorf(mysql.ER_PARSE_ERROR, "42000", "You have an error in your SQL syntax: %s is NULL", of)
	}
	return literal, nil
}
