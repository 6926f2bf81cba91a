package preflight

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router/catalog"
)

// readTables reads the tables on both sides and compares them.
func (i *inspection) readTables() error {
	for _, n := range i.names() {
		if gone, err := i.gone(n); err != nil {
			return err
		} else if gone {
			i.report.Gone++
			continue
		}
		made, err := i.made(n)
		if err != nil {
			return err
		}
		for _, s := range i.sides() {
			if made && s == i.target {
				continue
			}
			t, err := i.read(s, n)
			if err != nil {
				if s.Broken() != nil {
					return err
				}
				i.problem("see the reason", "the %s: %v", s.role, err)
				continue
			}
			s.tables[n] = t
		}
		source, target := i.source.tables[n], i.target.tables[n]
		if made && source != nil {
			i.report.Tables = append(i.report.Tables, source)
		}
		if source == nil || target == nil {
			continue
		}
		i.compare(source, target)
		i.report.Tables = append(i.report.Tables, source)
	}
	return table.Tie(i.ctx, i.source, i.report.Tables)
}

func (i *inspection) read(s *side, n catalog.TableName) (*table.Table, error) {
	read := table.Read
	if i.config.Import && !i.config.Resumed {
		read = table.ReadUnmade // the import adds the gene column later
	}
	return read(i.ctx, s, n, i.config.Tables[n], i.config.Width)
}

// made reports whether an import creates a table at the target, because it does not exist there yet.
func (i *inspection) made(n catalog.TableName) (bool, error) {
	if !i.config.Import || i.config.Resumed {
		return false, nil
	}
	there, err := copies.Has(i.ctx, i.target.Conn, n)
	return !there, err
}

// gone reports whether a declared table exists on neither server. The check of privileges refuses an account
// that could not see it. An import names its tables itself, so each of them must exist.
func (i *inspection) gone(n catalog.TableName) (bool, error) {
	if i.config.Import {
		return false, nil
	}
	for _, s := range i.sides() {
		if there, err := copies.Has(i.ctx, s.Conn, n); err != nil || there {
			return false, err
		}
	}
	return true, nil
}

// uniqueKeys refuses unique keys of an import whose equal values could be on several shards. The source, which
// keeps all rows, could not have both rows.
func (i *inspection) uniqueKeys() error {
	if !i.config.Import {
		return nil
	}
	for _, n := range i.names() {
		t := i.source.tables[n]
		if t == nil {
			continue
		}
		for _, u := range append([]table.Index{t.Key}, t.Unique...) {
			if !t.TellsGene(u) && !t.Numbered(u) {
				i.problem(withOwner(t, u)+", or make it no unique key", "unique key %s of table %s has neither the owner nor an ID: each shard would hold it for its own rows alone", u.Name, n)
			}
		}
	}
	return nil
}

// withOwner returns the statement that adds the owner to a unique key.
func withOwner(t *table.Table, u table.Index) string {
	key := catalog.UniqueKey{Name: u.Name}
	for _, c := range u.Columns {
		if c < 0 {
			key.Partial = true
			continue
		}
		at, known := t.Declared.Column(t.Columns[c].Name)
		key.Partial, key.Columns = key.Partial || !known, append(key.Columns, at)
	}
	return t.Declared.WithOwner(key)
}

// duplicates searches for rows that the target would refuse, because another row there has the same values in a
// unique key without the owner. It reads all moving rows of tables that have such keys.
func (i *inspection) duplicates() error {
	if i.config.Resumed || i.config.Import { // an import refuses such keys
		return nil
	}
	for _, n := range i.names() {
		t := i.source.tables[n]
		if t == nil || i.target.tables[n] == nil {
			continue
		}
		keys, err := t.Loose(i.ctx, i.source)
		if err != nil {
			return err
		}
		for _, l := range keys {
			if err := i.duplicate(t, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// duplicate reports the first duplicate of a key. It compares values of expressions as texts. If a server
// refuses such a query, the move itself finds duplicates.
func (i *inspection) duplicate(t *table.Table, l *table.Loose) error {
	for _, where := range t.Conditions(i.config.Genes, rangesPerQuery) {
		twin, err := l.FirstTwin(i.ctx, i.source.Conn, i.target.Conn, where)
		if err == nil && twin != nil {
			if i.source.Broken() != nil { // the rest of a large result was not read, which broke the connection
				err = i.source.Redial(i.ctx, i.config.Source)
			}
			if err == nil {
				err = twin.Name(i.ctx, i.source.Conn, where)
			}
			i.problem(table.TwinRemedy, "%s", twin)
			return err
		}
		if err != nil && link.Code(err) == 0 {
			return err
		}
	}
	return nil
}

// programs refuses events, and triggers of other tables, that would continue to write an import's tables on the
// source.
func (i *inspection) programs() error {
	if !i.config.Import {
		return nil
	}
	for _, n := range i.names() {
		names := "'(^|[^[:alnum:]_$])" + regexp.QuoteMeta(strings.ToLower(n.Name)) + "($|[^[:alnum:]_$])'"
		rows, err := i.source.Query(i.ctx, "SELECT 'EVENT', EVENT_SCHEMA, EVENT_NAME FROM information_schema.EVENTS WHERE LOWER(CONVERT(EVENT_DEFINITION USING utf8mb4)) REGEXP "+names+
			" UNION ALL SELECT 'TRIGGER', TRIGGER_SCHEMA, TRIGGER_NAME FROM information_schema.TRIGGERS WHERE LOWER(CONVERT(ACTION_STATEMENT USING utf8mb4)) REGEXP "+names+
			" AND NOT "+i.which("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"))
		if err != nil {
			return err
		}
		for _, r := range rows {
			i.problem(fmt.Sprintf("DROP %s %s.%s, and let the application do what it does", r[0], r[1], r[2]),
				"%s %s.%s names table %s, and would write without a proxy", strings.ToLower(string(r[0])), r[1], r[2], n)
		}
	}
	return nil
}

func (i *inspection) compare(s, t *table.Table) {
	differ := func(what string, source, target any) {
		i.problem("make the tables the same (SHOW CREATE TABLE)", "table %s: %s is %v at the source and %v at the target", s.Name, what, source, target)
	}
	if len(s.Columns) != len(t.Columns) {
		differ("the number of columns", len(s.Columns), len(t.Columns))
		return
	}
	for n := range s.Columns {
		a, b := &s.Columns[n], &t.Columns[n]
		if x, y := describe(a), describe(b); x != y {
			differ(fmt.Sprintf("column %d", n+1), x, y)
		}
	}
	if s.Key.Name != t.Key.Name || !slices.Equal(s.Key.Columns, t.Key.Columns) {
		differ("the rows' key", s.Key.Name+" ("+s.KeyList()+")", t.Key.Name+" ("+t.KeyList()+")")
	}
	if a, b := indexes(s), indexes(t); a != b {
		differ("the list of unique keys", a, b)
	}
}

func describe(c *table.Column) string {
	d := c.Name + " " + c.FullType
	if c.Charset != "" {
		d += " " + c.Charset + " " + c.Collation
	}
	if !c.Nullable {
		d += " NOT NULL"
	}
	if c.Generated {
		d += " GENERATED"
	}
	return d
}

func indexes(t *table.Table) string {
	var all []string
	for _, u := range t.Unique {
		all = append(all, fmt.Sprint(u.Columns))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// kinds refuses tables that do not keep their rows in a transaction.
func (i *inspection) kinds() error {
	for _, s := range i.sides() {
		rows, err := s.Query(i.ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, IFNULL(ENGINE,'') FROM information_schema.TABLES WHERE "+i.which("TABLE_SCHEMA", "TABLE_NAME"))
		if err != nil {
			return err
		}
		for _, r := range rows {
			if string(r[2]) != "BASE TABLE" {
				i.problem("move a plain table", "table %s.%s is a %s at the %s", r[0], r[1], r[2], s.role)
			} else if string(r[3]) != "InnoDB" {
				i.problem(fmt.Sprintf("ALTER TABLE %s.%s ENGINE=InnoDB", r[0], r[1]), "table %s.%s has engine %s at the %s", r[0], r[1], r[3], s.role)
			}
		}
	}
	return nil
}

// foreignKeys refuses foreign keys between moving and staying tables, and keys that only one server has. The
// applier repeats cascades by the source's keys, in both directions.
func (i *inspection) foreignKeys() error {
	var found [2][]string
	for n, s := range i.sides() {
		keys, err := table.ForeignKeys(i.ctx, s)
		if err != nil {
			return err
		}
		for _, o := range catalog.KeyObstacles(keys, i.declared) {
			i.problem(o.Remedy, "%s, at the %s", o.What, s.role)
		}
		for k := range keys {
			key := &keys[k]
			_, childMoves := i.config.Tables[key.TableName]
			_, parentMoves := i.config.Tables[key.References]
			switch {
			case i.config.Import && (childMoves || parentMoves) && key.Acts():
				i.problem(fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s", key.TableName, key.Name), "foreign key %s of the %s changes rows of %s by ON UPDATE %s, ON DELETE %s, which an import does not follow",
					key.Name, s.role, key.TableName, key.OnUpdate, key.OnDelete)
			case childMoves && parentMoves:
				found[n] = append(found[n], key.String())
			}
		}
	}
	if i.config.Import {
		return nil
	}
	for n, s := range i.sides() {
		for _, key := range found[n] {
			if !slices.Contains(found[1-n], key) {
				i.problem("make the tables the same (SHOW CREATE TABLE)", "only the %s has foreign key %s", s.role, key)
			}
		}
	}
	return nil
}

// declared returns the declaration of a table during the move. Moving tables are sharded. Of the other tables,
// only the global ones are on the target too.
func (i *inspection) declared(name catalog.TableName) (d catalog.Declaration) {
	if d, moves := i.config.Tables[name]; moves {
		return d
	}
	if e := i.config.Everywhere; e != nil && !i.config.Outside && e.Tables[name].Kind == catalog.Global {
		return e.Tables[name]
	}
	return catalog.Declaration{Kind: catalog.Single}
}

// triggers refuses triggers, because they would fire on the rows that the move writes. On the source they would
// fire when rows come back.
func (i *inspection) triggers() error {
	for _, s := range i.sides() {
		rows, err := s.Query(i.ctx, "SELECT TRIGGER_NAME, EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE "+i.which("EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"))
		if err != nil {
			return err
		}
		for _, r := range rows {
			i.problem(fmt.Sprintf("DROP TRIGGER %s.%s for the time of the move", r[1], r[0]), "trigger %s of table %s.%s at the %s would fire on the rows that the move writes", r[0], r[1], r[2], s.role)
		}
	}
	return nil
}

// rangesPerQuery bounds the gene ranges in the condition of one query.
const rangesPerQuery = 200

// rowsInTheWay reports rows of the genes at the target. Their origin is unknown, so the move does not overwrite
// them.
func (i *inspection) rowsInTheWay() error {
	if i.config.Resumed {
		return nil
	}
	for _, n := range i.names() {
		t := i.target.tables[n]
		if t == nil {
			continue
		}
		conditions := t.Conditions(i.config.Genes, rangesPerQuery)
		if i.config.Import { // the tables have no genes there yet
			conditions = []string{"TRUE"}
		}
		for _, where := range conditions {
			rows, err := i.target.Query(i.ctx, "SELECT "+t.KeyList()+" FROM "+t.SQL()+" WHERE "+where+" LIMIT 1")
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				i.problem(fmt.Sprintf("find out where they come from; if nothing needs them: DELETE FROM %s WHERE …", n), "the target has rows of the moving genes in %s, such as %q", n, rows[0])
				break
			}
		}
	}
	return nil
}

// values searches for JSON values that their text does not represent exactly. It reads all rows of tables that
// have such columns.
func (i *inspection) values() error {
	if i.config.Resumed {
		return nil
	}
	for _, n := range i.names() {
		t := i.source.tables[n]
		if t == nil || t.TypedInside() == "" {
			continue
		}
		conditions := t.Conditions(i.config.Genes, rangesPerQuery)
		if i.config.Import { // a row may not contain its gene yet
			conditions = []string{"TRUE"}
		}
		for _, where := range conditions {
			rows, err := i.source.Query(i.ctx, "SELECT "+t.KeyList()+" FROM "+t.SQL()+" WHERE "+where+" AND "+t.TypedInside()+" LIMIT 1")
			if err != nil {
				return err
			}
			if len(rows) > 0 {
				i.problem(table.TypedRemedy,
					"table %s has JSON values with a DECIMAL, a time or bytes inside, which their text does not tell, such as in row %q", n, rows[0])
				break
			}
		}
	}
	return nil
}
