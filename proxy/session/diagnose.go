package session

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
)

// What SIGNAL raises of itself, as a warning.
const erSignalWarning = 1642

// diagnose is GET DIAGNOSTICS into user variables, of the conditions that the session
// keeps. They stay as they are, and so does ROW_COUNT().
func (s *Session) diagnose(r *request) error {
	if err := s.assignDiagnosed(r); err != nil {
		return err
	}
	rows := s.rowCount
	defer func() { s.rowCount = rows }()
	return s.answer(nil)
}

// assignDiagnosed gives the variables their values. A condition that is not there is
// an error which is added to the others, while to the client all is well.
func (s *Session) assignDiagnosed(r *request) error {
	next, d := s.settings, r.plan.Statement.Diagnosing
	c, err := s.condition(d.Condition)
	if err != nil {
		return err
	}
	if d.Condition != "" && c == nil {
		s.warnings = append(slices.Clip(s.warnings), diagnostic{level: "Error", code: "1758", message: "Invalid condition number", state: "35000"})
		return nil
	}
	for _, i := range d.Items {
		literal, err := s.diagnosed(c, i.Item)
		if err != nil {
			return err
		}
		next = next.With(variableName(i.Variable), literal)
	}
	if err := s.carriable(next); err != nil {
		return err
	}
	if err := s.try(next); err != nil {
		return err
	}
	s.carry(next)
	return nil
}

// condition finds the one that is asked about, counted from 1; nil if there is none.
func (s *Session) condition(number string) (*diagnostic, error) {
	if number == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		literal, err := s.computeValue("CAST(" + number + " AS SIGNED)")
		if err != nil {
			return nil, err
		}
		n, _ = strconv.Atoi(literal) // of NULL there is none
	}
	if n < 1 || n > len(s.warnings) {
		return nil, nil
	}
	return &s.warnings[n-1], nil
}

// diagnosed gives what is told of the statement or of a condition, as a constant.
func (s *Session) diagnosed(c *diagnostic, item string) (string, error) {
	switch item {
	case "NUMBER":
		return strconv.Itoa(len(s.warnings)), nil
	case "ROW_COUNT":
		return strconv.FormatInt(s.rowCount, 10), nil
	case "MYSQL_ERRNO":
		return c.code, nil
	case "MESSAGE_TEXT":
		return named(c.message), nil
	case "RETURNED_SQLSTATE":
		if state, known := c.sqlState(); known {
			return named(state), nil
		}
	}
	return "", &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf("GET DIAGNOSTICS of %s: SIGNAL may have given it any value, which servers show within a program only", item)}
}

// named is a text in the character set of servers' names and messages.
func named(text string) string {
	return fmt.Sprintf("_utf8mb3 X'%X' COLLATE utf8mb3_general_ci", text)
}

// sqlState is what the server said, or what goes with the number.
func (d *diagnostic) sqlState() (state string, known bool) {
	if d.state != "" {
		return d.state, true
	}
	code, _ := strconv.ParseUint(d.code, 10, 16)
	if state, ok := mysql.MySQLState[uint16(code)]; ok {
		return state, true
	}
	return stateGeneral, code != erSignalWarning
}
