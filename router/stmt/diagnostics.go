package stmt

import (
	"regexp"
	"strings"
)

// Diagnosing is a GET DIAGNOSTICS that assigns facts about the previous statement, or about one of its conditions, to user
// variables.
type Diagnosing struct {
	// Condition is the expression of the condition's number; empty for statement information.
	Condition string
	Items     []DiagnosedItem
}

// DiagnosedItem is one assignment to a variable.
type DiagnosedItem struct {
	Variable string // in lower case
	Item     string // in upper case: NUMBER, RETURNED_SQLSTATE, …
}

var (
	diagnosing    = regexp.MustCompile(`(?is)^\s*get\s+(?:current\s+)?diagnostics\s+(.*?)[;\s]*$`)
	conditionOf   = regexp.MustCompile("(?is)^condition\\s+(@@?(?:session\\.)?[\\w$]+|@`[^`]+`|[\\w'.]+)\\s+(@.*)$")
	diagnosedItem = regexp.MustCompile("(?is)^@([\\w$.]+|`[^`]+`)\\s*:?=\\s*(\\w+)$")
)

// StatementItems and ConditionItems are the valid items.
var (
	StatementItems = set("NUMBER ROW_COUNT")
	ConditionItems = set("CLASS_ORIGIN SUBCLASS_ORIGIN RETURNED_SQLSTATE MESSAGE_TEXT MYSQL_ERRNO CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME CATALOG_NAME SCHEMA_NAME TABLE_NAME COLUMN_NAME CURSOR_NAME")
)

// readDiagnostics reads GET DIAGNOSTICS, which the parser doesn't support. It returns false for other statements, and
// for forms that no server accepts outside of a stored program.
func readDiagnostics(l *Lexed) (*Statement, bool) {
	m := diagnosing.FindStringSubmatch(l.plain())
	if m == nil {
		return nil, false
	}
	d, items, rest := &Diagnosing{}, StatementItems, m[1]
	if c := conditionOf.FindStringSubmatch(rest); c != nil {
		d.Condition, items, rest = c[1], ConditionItems, c[2]
	}
	for item := range strings.SplitSeq(rest, ",") {
		m := diagnosedItem.FindStringSubmatch(strings.TrimSpace(item))
		if m == nil || !items[strings.ToUpper(m[2])] {
			return nil, false
		}
		d.Items = append(d.Items, DiagnosedItem{lower(strings.Trim(m[1], "`")), strings.ToUpper(m[2])})
	}
	return &Statement{Kind: Diagnose, Diagnosing: d, Verbatim: true}, true
}

// plain returns the text without comments and hints.
func (l *Lexed) plain() string {
	text := append([]byte(nil), l.Text...)
	for _, literal := range l.Literals {
		if literal.Kind == CommentLiteral {
			blank(text, literal.Start, literal.End)
		}
	}
	for _, a := range l.asides {
		blank(text, a.start, a.end)
	}
	return string(text)
}
