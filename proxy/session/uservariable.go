package session

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/router/plan"
	"locus/router/stmt"
)

// learn reads user variables from the connection on which a statement assigned
// them, so that every other one carries them too.
func (s *Session) learn(l lease, names []string) {
	if len(names) == 0 {
		return
	}
	var fields []string
	for _, name := range names {
		fields = append(fields, valueFields("@`"+strings.ReplaceAll(name, "`", "``")+"`"))
	}
	rows, err := l.conn.Own().Query(s.ctx, "SELECT "+strings.Join(fields, ", "))
	if err != nil || len(rows.Rows) != 1 {
		s.losesValues(l, errUnkept)
		return
	}
	next := s.settings
	var carried []string
	for i, name := range names {
		if lacksBytes(rows, 4*i) {
			s.losesValues(l, errUnkept)
			return
		}
		literal := valueLiteral(rows, 0, 4*i)
		if charset, collation := rows.Rows[0][4*i+2], rows.Rows[0][4*i+3]; literal == "NULL" && len(charset) > 0 && string(charset) != "binary" {
			literal = nullText + string(charset) + ") COLLATE " + string(collation)
		}
		carried = append(carried, variableName(name))
		next = next.With(carried[i], literal)
	}
	if err := s.carriable(next); err != nil {
		s.losesValues(l, err)
		return
	}
	l.conn.Adopt(next)
	s.invalidate(carried, l.conn)
	s.carry(next)
}

// errUnkept is about values that a shard has and does not give, since HEX of them is
// larger than its max_allowed_packet, or the connection was lost.
var errUnkept = &plan.Refusal{Code: plan.TooLarge, Message: "user variables that the statement before assigned could not be read from the shard, being larger than half of its max_allowed_packet, or since the connection was lost: keep large values in a table"}

// losesValues ends the session before its next statement, which would not see what the
// last one has assigned: the client has the answer to that already. Nobody else gets the
// connection.
func (s *Session) losesValues(l lease, why error) {
	l.conn.Note(backend.Unknown)
	s.unkept = why
}

// lacksBytes tells a text that was asked for with valueFields and came without its bytes.
func lacksBytes(rows *backend.Rows, at int) bool {
	value := rows.Rows[0]
	return value[at] != nil && value[at+1] == nil
}

// nullText begins a NULL that has a text's character set: MySQL reads later statements by it.
const nullText = "CONVERT(NULL USING "

// variableName is a user variable's in settings.
func variableName(name string) string {
	if plainName(name) {
		return "@" + name
	}
	return "@`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// learnAll reads whichever user variables a routine may have assigned. Servers
// list their names; of one that doesn't (performance_schema is off, or not for the
// proxy's account) only those are read that the session has, and new ones stay unknown
// to other connections.
func (s *Session) learnAll(l lease) {
	rows, err := l.conn.Own().Query(s.ctx, s.flavor().UserVariables())
	if err != nil {
		if refused(err) {
			s.learn(l, userNames(s.settings))
		}
		return
	}
	var names []string
	for _, row := range rows.Rows {
		names = append(names, strings.ToLower(string(row[0])))
	}
	slices.Sort(names)
	s.learn(l, names)
}

// userNames are those of the user variables in settings.
func userNames(settings *backend.Settings) (names []string) {
	for _, a := range settings.Assignments() {
		if name, user := strings.CutPrefix(a.Name, "@"); user {
			if quoted, is := strings.CutPrefix(name, "`"); is {
				name = strings.ReplaceAll(strings.TrimSuffix(quoted, "`"), "``", "`")
			}
			names = append(names, name)
		}
	}
	return names
}

// valueFields asks for a value in a way that loses nothing of it: as it is, as
// bytes, and with its character set and collation.
func valueFields(expression string) string {
	return expression + ", HEX(" + expression + "), CHARSET(" + expression + "), COLLATION(" + expression + ")"
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

// computeValue is compute for a user variable, which keeps everything of the
// value.
func (s *Session) computeValue(expression string) (string, error) {
	rows, err := s.computed(s.settings, "SELECT "+valueFields("v")+" FROM (SELECT "+expression+" AS v) AS t")
	if err != nil {
		return "", err
	}
	return valueLiteral(rows, 0, 0), nil
}

// assignUser is SET @name = value.
func (s *Session) assignUser(next *view, v stmt.Variable) error {
	name := variableName(v.Name)
	if expression := s.asExpression(v); expression != "" {
		literal, err := s.computeValue(expression)
		if err == nil {
			next.settings = next.settings.With(name, literal)
		}
		return err
	}
	literal, err := s.literal(v)
	if err == nil {
		next.settings = next.settings.With(name, collated(literal, next.settings))
	}
	return err
}

// asExpression gives the value where the first shard is to compute it; empty
// where it is a constant whose character set is known to be that of SET NAMES.
func (s *Session) asExpression(v stmt.Variable) string {
	_, charset := s.settings.Lookup("character_set_connection")
	_, collation := s.settings.Lookup("collation_connection")
	plain := v.Expression == "" && v.Value.Kind == stmt.String && !bytes.ContainsRune(v.Value.Text, '\\')
	if plain && (charset || collation) {
		return "'" + strings.ReplaceAll(string(v.Value.Text), "'", "''") + "'"
	}
	return v.Expression
}

// userVariable gives the constant that a user variable holds; NULL if it was
// never assigned.
func (s *Session) userVariable(name string) string {
	literal, ok := s.settings.Lookup(variableName(name))
	if !ok || strings.HasPrefix(literal, nullText) {
		return "NULL"
	}
	return uncollated(literal)
}

func uncollated(literal string) string {
	bare, _, _ := strings.Cut(literal, " COLLATE ")
	return bare
}

// userText gives the text that a user variable holds.
func (s *Session) userText(name string) (string, error) {
	literal := s.userVariable(name)
	if spelledOtherwise(literal) {
		var err error
		if literal, err = s.computeValue("CONVERT(" + literal + " USING utf8mb4)"); err != nil {
			return "", err
		}
	}
	return literalText(literal, "@"+name)
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

// literalText gives the text that a constant stands for.
func literalText(literal, of string) (string, error) {
	literal = uncollated(literal)
	if at := strings.IndexAny(literal, "X'"); at >= 0 && strings.HasSuffix(literal, "'") {
		body := strings.Trim(strings.TrimPrefix(literal[at:], "X"), "'")
		if literal[at] != 'X' {
			return body, nil
		}
		text, err := hex.DecodeString(body)
		return string(text), err
	}
	if literal == "NULL" {
		return "", fail(mysql.ER_PARSE_ERROR, "42000", "You have an error in your SQL syntax: %s is NULL", of)
	}
	return literal, nil
}
