package schema

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// fill notes what a server puts into a column that a statement leaves out.
func (s *server) fill(c *liveColumn, value []byte, extra string) {
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

// originOf reads the expression of a default as servers spell it. MySQL escapes the
// quotes in it. What can't be read may be anything.
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

// origin: of all that a statement may use, an expression of one row's columns and the
// statement's time is alike everywhere.
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
