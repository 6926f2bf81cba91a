package differential

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// generator makes random statements. The same seed over the same rows makes the
// same ones.
type generator struct {
	r      *rand.Rand
	schema string
	held   map[string][]string // values that rows hold, by table.column
	ids    *issuer
	owners []int64
	alias  int
	shadow bool // the statement that is being made shadows
	mixed  bool // the condition has a list of texts and numbers
	reads  bool // it is a read,
	viewed bool // it is a column of a view of rows on several shards
}

func (g *generator) oneIn(n int) bool { return g.r.IntN(n) == 0 }

func pick[T any](g *generator, list []T) T { return list[g.r.IntN(len(list))] }

// order is how much of the order of an answer's rows is determined.
type order uint8

const (
	unordered order = iota // the rows are determined, but not their order
	ordered                // the rows and their order are determined
	counted                // how many rows
)

// statement is one that both sides run.
type statement struct {
	root     *node
	order    order
	writes   *table // nil for a read
	skip     []string
	prepared bool
	viewed   bool  // the statement reads a view of rows on several shards
	shadows  bool  // a field's alias is also a column's name
	mixed    bool  // the statement has a list of texts and numbers
	several  bool  // rows of an INSERT
	fixed    []any // parameters of placeholders in the text
	insertID int64 // LAST_INSERT_ID() before it runs
	// moved has the text name tables of another schema, where it isn't nil.
	moved *strings.Replacer
	dress *dress // nil: written without changes
}

// statement makes any, one in four a write.
func (g *generator) statement() *statement {
	if s := g.read(); !g.oneIn(4) {
		return s
	}
	return g.write()
}

func (s *statement) render(plain bool) (string, []any) {
	r := render{prepared: s.prepared, plain: plain}
	r.node(s.root)
	text := r.b.String()
	if s.moved != nil {
		text = s.moved.Replace(text)
	}
	return text, append(r.args, s.fixed...)
}

// asked returns the text and the parameters to send.
func (s *statement) asked(plain bool) (string, []any) {
	text, args := s.render(plain)
	if s.dress == nil {
		return withoutAsides.Replace(text), args
	}
	return s.dress.spell(text), s.dress.args(args)
}

func (s *statement) String() string {
	text, args := s.asked(false)
	if s.dress != nil {
		text = strings.NewReplacer("\\n", "\n", `\"`, `"`, `\\`, `\`).Replace(strconv.Quote(text)) + "   -- under " + s.dress.outfit.String()
	}
	if !s.prepared {
		return text
	}
	out := text + "   -- prepared"
	for _, a := range args {
		out += fmt.Sprintf(" %T(%v)", a, a)
	}
	return out
}

// source is a table in a FROM clause.
type source struct {
	table *table
	alias string
}

type scope []source

// name writes a column's name in one of the possible ways.
func (g *generator) name(sc scope, s source, c string) string {
	bare := true
	for _, other := range sc {
		bare = bare && (other == s || !other.table.has(c))
	}
	spelled := c
	switch {
	case g.oneIn(12):
		spelled = strings.ToUpper(c)
	case g.oneIn(12):
		spelled = "`" + c + "`"
	}
	switch {
	case bare && g.oneIn(2):
		return spelled
	case s.alias == s.table.name && g.oneIn(12):
		return g.schema + "." + s.alias + "." + spelled
	case g.oneIn(12):
		return "`" + s.alias + "`." + spelled
	}
	return s.alias + "." + spelled
}

func (g *generator) source(t *table) source {
	if g.oneIn(3) {
		return source{t, t.name}
	}
	g.alias++
	return source{t, fmt.Sprintf("%s%d", pick(g, []string{"t", "A", "x"}), g.alias)}
}

func (g *generator) from(s source) string {
	name := s.table.name
	if views := seenAs[s.table]; views != nil && s.alias != name && g.oneIn(3) {
		name = pick(g, views)
	} else if views := farSeenAs[s.table]; views != nil && g.reads && s.alias != name && g.oneIn(8) {
		name, g.viewed = pick(g, views), true
	}
	switch {
	case g.oneIn(10):
		name = g.schema + "." + name
	case g.oneIn(10):
		name = "`" + name + "`"
	}
	if s.alias == s.table.name {
		return name
	}
	return name + pick(g, []string{" ", " AS "}) + s.alias
}

// column picks a column; half the time one that a gene can be read from.
func (g *generator) column(s source) column {
	if g.oneIn(2) {
		for range 4 {
			if c := pick(g, s.table.columns); c.key {
				return c
			}
		}
	}
	return pick(g, s.table.columns)
}

func (g *generator) comment() string {
	if !g.oneIn(15) {
		return " "
	}
	return pick(g, []string{" /* a ' comment */ ", " -- owner = 1\n ", " # it's\n ", "\t\n"})
}
