package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// copyOf returns the table that a name is a copy of. pt-online-schema-change uses _T_new, with more underscores if that name
// exists. gh-ost uses _T_gho and _T_ghc.
func copyOf(name string) (of string, is bool) {
	of = strings.TrimLeft(name, "_")
	if of == name {
		return "", false
	}
	for _, end := range []string{"_new", "_gho", "_ghc"} {
		if of, is := strings.CutSuffix(of, end); is && of != "" {
			return of, true
		}
	}
	return "", false
}

// checkOnlineCopy refuses to create the table into which such a tool copies a sharded or global table. The name is the only sign of the
// tool before it creates triggers or reads the binary log. Neither works through the proxy, so the tool would fail and leave the
// table, or even a declared one, because it copies the comment. A user's own table of such a name is allowed if it is declared or
// exists.
func (c Context) checkOnlineCopy(s *stmt.Statement) error {
	if s.Features&stmt.MakesTable == 0 || len(s.Tables) == 0 {
		return nil
	}
	name := c.fullName(s.Tables[0])
	of, is := copyOf(name.Name)
	if _, declared := c.Catalog.Declared(name); !is || declared || len(c.Catalog.On(name)) > 0 {
		return nil
	}
	if t, declared := c.Catalog.Declared(catalog.TableName{Schema: name.Schema, Name: of}); declared && t.Kind != catalog.Single {
		return refuseCopy(name.String(), string(t.Kind)+" table "+name.Schema+"."+of)
	}
	return nil
}

// checkOnlineCopyUnread is checkOnlineCopy for a text that the parser can't read. It uses the words of the text.
func (c Context) checkOnlineCopyUnread(l *stmt.Lexed, words []string) error {
	if !stmt.DefinesTable(l) {
		return nil
	}
	for _, w := range words {
		of, is := copyOf(w)
		if !is {
			continue
		}
		if what, named := c.Catalog.Mentions(c.Schema, []string{of, w}); named {
			return refuseCopy(w, what)
		}
	}
	return nil
}

func refuseCopy(name, of string) error {
	return refuse(Unsupported, "table %s would be the copy of %s by which pt-online-schema-change or gh-ost changes it, and these work on one server: nothing was made. "+
		"Run the tool on each shard, connected to it, or send the ALTER TABLE itself; a table of your own by this name needs a declaration in cluster.yaml, or another name", name, of)
}
