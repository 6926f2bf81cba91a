package schema

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// setDefault sets the value that a server stores in a column that a statement omits.
func (s *server) setDefault(c *liveColumn, value []byte, extra string) {
	text := string(value)
	written := s.flavor.WritesDefaults()
	none := value == nil || written && text == "NULL"
	c.DefaultsToNull = none && c.Nullable && !c.AutoIncrement && !c.Generated
	c.OnUpdate = strings.Contains(extra, "ON UPDATE")
	switch computed := strings.Contains(extra, "DEFAULT_GENERATED"); {
	case none:
	case computed || written && !strings.HasPrefix(text, "'"):
		if c.Default = originOf(text); !computed && !strings.Contains(text, "(") {
			c.filled = text // a number
		}
	default:
		c.filled = text
		if written {
			c.filled = strings.NewReplacer("''", "'", `\\`, `\`).Replace(text[1 : len(text)-1])
		}
	}
}

// originOf returns the origin of a default's value by its expression, as servers write it. MySQL escapes the quotes in it. If the expression
// can't be parsed, the value may differ on each server.
func originOf(expression string) catalog.Origin {
	for _, text := range []string{expression, strings.ReplaceAll(expression, `\'`, `'`)} {
		var l stmt.Lexed
		l.Lex([]byte("SELECT "+text), 0)
		s, err := stmt.Parse(&l)
		if err != nil {
			continue
		}
		return origin(s.Features)
	}
	return catalog.Anew
}

// origin returns the origin of an expression with these features. Its value is the same on all servers if it uses only the row's columns and
// the statement's time.
func origin(f stmt.Feature) catalog.Origin {
	switch f {
	case 0:
		return catalog.Constant
	case stmt.ReadsClock:
		return catalog.Clock
	default:
		return catalog.Anew
	}
}
