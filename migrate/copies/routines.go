package copies

import (
	"context"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Routine is a procedure or function.
type Routine struct {
	catalog.TableName
	Kind string // PROCEDURE or FUNCTION
}

func (r Routine) String() string { return strings.ToLower(r.Kind) + " " + r.TableName.String() }

// Folded returns the routine with its name in lower case, because servers compare the names of routines without
// case.
func (r Routine) Folded() Routine {
	r.Name = strings.ToLower(r.Name)
	return r
}

// RoutineNames returns all routines of a server, folded.
func RoutineNames(ctx context.Context, c *link.Conn) (map[Routine]bool, error) {
	names := map[Routine]bool{}
	rows, err := c.Query(ctx, "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES")
	for _, r := range rows {
		names[Routine{catalog.TableName{Schema: string(r[0]), Name: string(r[1])}, string(r[2])}.Folded()] = true
	}
	return names, err
}

// stored is a routine with the words of its body in lower case.
type stored struct {
	Routine
	words map[string]bool
	home  bool // the routine uses a table or a system schema, or another routine that does
}

// Routines returns the routines that give the same result on every shard. They use no table or view of the
// server, no system schema, and no routine that does. Routines with dynamic SQL or an invisible body may use
// anything, so they don't count.
func Routines(ctx context.Context, c *link.Conn) ([]Routine, error) {
	tables := map[catalog.TableName]bool{}
	schemas := map[string]bool{}
	rows, err := c.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE "+notSystem)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		name := catalog.TableName{Schema: strings.ToLower(string(r[0])), Name: strings.ToLower(string(r[1]))}
		tables[name], schemas[name.Schema] = true, true
	}
	rows, err = c.Query(ctx, "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, SQL_MODE, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE "+
		strings.Replace(notSystem, "TABLE_SCHEMA", "ROUTINE_SCHEMA", 1)+" ORDER BY 1, 2, 3")
	if err != nil {
		return nil, err
	}
	var all []*stored
	for _, r := range rows {
		one := &stored{Routine: Routine{catalog.TableName{Schema: string(r[0]), Name: string(r[1])}, string(r[2])}}
		schemas[strings.ToLower(one.Schema)] = true
		one.words = catalog.WordsOf(string(r[4]), stmt.ModeOf(string(r[3])))
		one.home = len(r[4]) == 0 || one.Kind != "PROCEDURE" && one.Kind != "FUNCTION" || one.words["prepare"] || one.words["execute"]
		all = append(all, one)
	}
	for changed := true; changed; {
		changed = false
		for _, one := range all {
			if !one.home && one.reaches(tables, schemas, all) {
				one.home, changed = true, true
			}
		}
	}
	var alike []Routine
	for _, one := range all {
		if !one.home {
			alike = append(alike, one.Routine)
		}
	}
	return alike, nil
}

// reaches reports whether a body names a table, a system schema, or a routine that does.
func (s *stored) reaches(tables map[catalog.TableName]bool, schemas map[string]bool, all []*stored) bool {
	within := []string{strings.ToLower(s.Schema)}
	for w := range s.words {
		if catalog.IsSystemSchema(w) {
			return true
		}
		if schemas[w] {
			within = append(within, w)
		}
	}
	for w := range s.words {
		for _, schema := range within {
			if tables[catalog.TableName{Schema: schema, Name: w}] {
				return true
			}
		}
	}
	return slices.ContainsFunc(all, func(o *stored) bool {
		return o.home && s.words[strings.ToLower(o.Name)] && slices.Contains(within, strings.ToLower(o.Schema))
	})
}
