package sysvars

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// Diagnose runs GET DIAGNOSTICS into user variables, for the conditions that the session keeps. It returns the settings with the variables' new
// values. If the condition does not exist, it adds an error to the conditions, and the client still gets OK.
func (e *Evaluator) Diagnose(d *stmt.Diagnosing) (*backend.Settings, error) {
	c, err := e.condition(d.Condition)
	if err != nil {
		return nil, err
	}
	next := e.Settings
	if d.Condition != "" && c == nil {
		e.Conditions = append(slices.Clip(e.Conditions), Condition{level: levelError, code: "1758", message: "Invalid condition number", state: "35000"})
		return next, nil
	}
	for _, i := range d.Items {
		literal, err := e.diagnosticItem(c, i.Item)
		if err != nil {
			return nil, err
		}
		next = next.With(variableName(i.Variable), literal)
	}
	return next, nil
}

// condition returns a condition by its number, which counts from 1. It returns nil if there is none.
func (e *Evaluator) condition(number string) (*Condition, error) {
	if number == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		literal, err := e.ComputeValue("CAST(" + number + " AS SIGNED)")
		if err != nil {
			return nil, err
		}
		n, _ = strconv.Atoi(literal) // NULL becomes 0
	}
	if n < 1 || n > len(e.Conditions) {
		return nil, nil
	}
	return &e.Conditions[n-1], nil
}

// diagnosticItem returns an item of the statement or of a condition, as a constant.
func (e *Evaluator) diagnosticItem(c *Condition, item string) (string, error) {
	switch item {
	case "NUMBER":
		return strconv.Itoa(len(e.Conditions)), nil
	case "ROW_COUNT":
		return strconv.FormatInt(e.RowCount, 10), nil
	case "MYSQL_ERRNO":
		return c.code, nil
	case "MESSAGE_TEXT":
		return nameLiteral(c.message), nil
	case "RETURNED_SQLSTATE":
		return nameLiteral(c.sqlState()), nil
	}
	return "", &plan.Refusal{Code: plan.Unsupported, Message: fmt.Sprintf("GET DIAGNOSTICS of %s: SIGNAL may have given it any value, which servers show within a program only", item)}
}

// nameLiteral returns a text as a constant in the character set of servers' names and messages.
func nameLiteral(text string) string {
	return fmt.Sprintf("_utf8mb3 X'%X' COLLATE utf8mb3_general_ci", text)
}

// sqlState returns the SQLSTATE that the server reported, or the usual one of the number.
func (c *Condition) sqlState() string {
	code, _ := strconv.ParseUint(c.code, 10, 16)
	return cmp.Or(c.state, mysql.MySQLState[uint16(code)], wire.StateGeneral)
}
