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

// AskUserVariables is the query for what user variables have.
func AskUserVariables(names []string) string {
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = valueFields(quotedVariable(name))
	}
	return "SELECT " + strings.Join(fields, ", ")
}

// AskAssigned is the query for which user variables have a value: 1, and 0 for NULL.
func AskAssigned(names []string) string {
	fields := make([]string, len(names))
	for i, name := range names {
		fields[i] = quotedVariable(name) + " IS NOT NULL"
	}
	return "SELECT " + strings.Join(fields, ", ")
}

// quotedVariable writes a user variable in a statement.
func quotedVariable(name string) string { return "@`" + strings.ReplaceAll(name, "`", "``") + "`" }

// WithUserVariables are settings with what AskUserVariables was answered with, and the names by which they carry it; nil if
// values are missing, which are too large for the shard to give them in a way that loses nothing.
func WithUserVariables(settings *backend.Settings, names []string, rows *backend.Rows) (next *backend.Settings, carried []string) {
	if !valued(rows, len(names)) {
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

// UserVariables are the names of those that the session has.
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

// nullText begins a NULL that has a text's character set: MySQL reads later statements by it.
const nullText = "CONVERT(NULL USING "

// variableName is a user variable's in settings.
func variableName(name string) string {
	if plainName(name) {
		return "@" + name
	}
	return quotedVariable(name)
}

// valueFields asks for a value in a way that loses nothing of it: as it is, as
// bytes, and with its character set and collation.
func valueFields(expression string) string {
	return expression + ", HEX(" + expression + "), CHARSET(" + expression + "), COLLATION(" + expression + ")"
}

// valued tells whether an answer is one row of n values that were asked for with valueFields.
func valued(rows *backend.Rows, n int) bool {
	return len(rows.Rows) == 1 && len(rows.Columns) == 4*n
}

// valueLiteral writes a value that was asked for with valueFields as a constant.
func valueLiteral(rows *backend.Rows, row, at int) string {
	value, columns := rows.Rows[row], rows.Columns
	switch t := columns[at].Type; {
	case value[at] == nil:
		return "NULL"
	case t == mysql.MYSQL_TYPE_FLOAT, t == mysql.MYSQL_TYPE_DOUBLE:
		number := string(value[at])
		if !strings.ContainsAny(number, "eE") {
			number += "e0" // else it would be a decimal
		}
		return number
	case numeric(t):
		return string(value[at])
	case string(value[at+2]) == "binary":
		return "_binary X'" + string(value[at+1]) + "'"
	}
	return "_" + string(value[at+2]) + " X'" + string(value[at+1]) + "' COLLATE " + string(value[at+3])
}

func numeric(columnType byte) bool {
	return columnType <= mysql.MYSQL_TYPE_DOUBLE || columnType == mysql.MYSQL_TYPE_LONGLONG ||
		columnType == mysql.MYSQL_TYPE_INT24 || columnType == mysql.MYSQL_TYPE_NEWDECIMAL
}

// assignUser is SET @name = value.
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

// asExpression gives the value where the shard is to compute it; empty where it is a constant whose character set is known to be
// that of SET NAMES.
func (s *Set) asExpression(v stmt.Variable) string {
	_, charset := s.state.Settings.Lookup(characterSetConnection)
	_, collation := s.state.Settings.Lookup(collationConnection)
	plain := v.Expression == "" && v.Value.Kind == stmt.String && !bytes.ContainsRune(v.Value.Text, '\\')
	if plain && (charset || collation) {
		return "'" + strings.ReplaceAll(string(v.Value.Text), "'", "''") + "'"
	}
	return v.Expression
}

// UserVariable gives the constant that a user variable holds; NULL if it was
// never assigned.
func (v *Values) UserVariable(name string) string {
	literal, ok := v.Settings.Lookup(variableName(name))
	if !ok || strings.HasPrefix(literal, nullText) {
		return "NULL"
	}
	return Uncollated(literal)
}

// Uncollated is a constant without its collation.
func Uncollated(literal string) string {
	bare, _, _ := strings.Cut(literal, " COLLATE ")
	return bare
}

// UserText gives the text that a user variable holds.
func (s *State) UserText(name string) (string, error) {
	literal := s.UserVariable(name)
	if spelledOtherwise(literal) {
		var err error
		if literal, err = s.ComputeValue("CONVERT(" + literal + " USING utf8mb4)"); err != nil {
			return "", err
		}
	}
	return LiteralText(literal, "@"+name)
}

// spelledOtherwise tells a text in a character set whose letters are not those of
// UTF-8.
func spelledOtherwise(literal string) bool {
	charset, _, introduced := strings.Cut(strings.TrimPrefix(literal, "_"), " ")
	if !strings.HasPrefix(literal, "_") {
		return false
	}
	if at := strings.IndexAny(charset, "X'"); at >= 0 {
		charset, introduced = charset[:at], true
	}
	return introduced && !utf8Charsets[charset]
}

// LiteralText gives the text that a constant stands for.
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
