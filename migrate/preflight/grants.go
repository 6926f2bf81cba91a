package preflight

import (
	"slices"
	"strings"
)

// grants holds the privileges of an account, including those of its enabled roles. They come from SHOW GRANTS,
// because information_schema omits roles.
type grants struct{ given, taken []grant }

// grant is one line of SHOW GRANTS.
type grant struct {
	privileges    []string
	schema, table string // as SHOW GRANTS prints it: a pattern, or * for all
}

func (i *inspection) grants(s *side) (grants, error) {
	rows, err := s.Query(i.ctx, "SHOW GRANTS")
	if err != nil {
		return grants{}, err
	}
	var g grants
	for _, r := range rows {
		g.read(string(r[0]))
	}
	return g, nil
}

// read parses a line such as GRANT SELECT, INSERT ON `shop`.* TO …, and ignores lines that are not about
// tables.
func (g *grants) read(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	list, object, ok := strings.Cut(rest, " ON ")
	if !ok {
		return // a role
	}
	schema, object, ok := name(object)
	table, _, dotted := name(strings.TrimPrefix(object, "."))
	if !ok || !dotted {
		return // for example a procedure
	}
	one := grant{strings.Split(list, ", "), schema, table}
	switch verb {
	case "GRANT":
		g.given = append(g.given, one)
	case "REVOKE": // a partial revoke of one schema, from a global privilege
		g.taken = append(g.taken, one)
	}
}

// name reads a quoted name, or a *, at the beginning of a text.
func name(text string) (name, rest string, ok bool) {
	if rest, ok = strings.CutPrefix(text, "*"); ok {
		return "*", rest, true
	}
	if !strings.HasPrefix(text, "`") {
		return "", "", false
	}
	for end := 1; end < len(text); end++ {
		if text[end] != '`' {
			continue
		}
		if end+1 == len(text) || text[end+1] != '`' {
			return strings.ReplaceAll(text[1:end], "``", "`"), text[end+1:], true
		}
		end++
	}
	return "", "", false
}

// may reports whether the account has a privilege on a table. With an empty schema it must be a global
// privilege.
func (g grants) may(privilege, schema, table string) bool {
	return slices.ContainsFunc(g.given, func(one grant) bool {
		if !one.has(privilege) {
			return false
		}
		if one.schema == "*" {
			return !slices.ContainsFunc(g.taken, func(t grant) bool { return t.has(privilege) && covers(t.schema, schema) })
		}
		return schema != "" && (one.table == "*" && covers(one.schema, schema) || one.schema == schema && one.table == table)
	})
}

func (g grant) has(privilege string) bool {
	return slices.Contains(g.privileges, privilege) || slices.Contains(g.privileges, "ALL PRIVILEGES") || slices.Contains(g.privileges, "ALL")
}

// covers reports whether a schema matches a pattern with the wildcards of LIKE.
func covers(pattern, schema string) bool {
	if pattern == "" {
		return schema == ""
	}
	switch c := pattern[0]; {
	case c == '%':
		return covers(pattern[1:], schema) || schema != "" && covers(pattern, schema[1:])
	case c == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	case c == '_' && schema != "":
		return covers(pattern[1:], schema[1:])
	}
	return schema != "" && schema[0] == pattern[0] && covers(pattern[1:], schema[1:])
}
