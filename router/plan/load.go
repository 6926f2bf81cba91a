package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Load is a LOAD DATA LOCAL whose rows are inserted on several shards. One server reads the file into a temporary table, so that
// fields, lines and SET have their meaning to a server. The rows of that table are inserted as if they had been written as
// VALUES.
type Load struct {
	Facts
	// Destination has the columns that are filled. It also has the columns without a default that must have a value: LOAD DATA
	// supplies one, and INSERT doesn't.
	Destination
	// Replace is true if existing rows are replaced. Otherwise they are kept.
	Replace bool
	// generated are the columns in which NULL asks for a generated value.
	generated []int
}

func (*Load) String() string { return "everywhere" }

// Temporary returns the name of the table that the file is read into. It is the name of the target table, which it hides, because
// servers name the table in warnings. It has no key, because it doesn't know which rows exist.
func (load *Load) Temporary() string { return quote(load.Into.Schema) + "." + quote(load.Into.Name) }

// Make returns the statements that create the temporary table.
func (load *Load) Make() []string {
	fields := make([]string, len(load.Columns))
	for i, c := range load.Columns {
		fields[i] = "a." + quote(load.Into.Columns[c].Name)
		if slices.Contains(load.generated, c) { // NULL is allowed in the columns of the absent side of an outer join
			fields[i] = "b." + quote(load.Into.Columns[c].Name)
		}
	}
	visible := load.Temporary()
	made := quote(load.Into.Schema) + ".locus_loaded"
	return []string{
		"CREATE TEMPORARY TABLE " + made + " ENGINE = InnoDB AS SELECT " + strings.Join(fields, ", ") + " FROM " + visible + " a LEFT JOIN " + visible + " b ON FALSE LIMIT 0",
		"ALTER TABLE " + made + " RENAME TO " + visible,
	}
}

// Read returns the query that reads the temporary table, in the order of the file.
func (load *Load) Read() string { return "SELECT " + load.list() + " FROM " + load.Temporary() }

// Around returns the text before the rows in each INSERT into the temporary table. INSERT IGNORE skips rows that can't be
// inserted, with a warning, as LOAD DATA LOCAL does.
func (load *Load) Around() Rows {
	verb := "INSERT IGNORE INTO "
	if load.Replace {
		verb = "REPLACE INTO "
	}
	return Rows{Head: verb + load.Temporary() + " (" + load.list() + ")"}
}

func (load *Load) list() string {
	names := make([]string, len(load.Columns))
	for i, c := range load.Columns {
		names[i] = quote(load.Into.Columns[c].Name)
	}
	return strings.Join(names, ", ")
}

// checkLoad refuses a LOAD DATA that would read files of the server, or that would read state of the shard's connection instead
// of the session's. SET is computed on a shard, once for each row.
func checkLoad(load *stmt.Loading) error {
	switch {
	case load == nil:
	case !load.Local:
		return refuse(NotAllowed, "LOAD DATA of a file on a server reaches that rather than tables: use LOAD DATA LOCAL")
	case load.Speaks != "":
		return refuse(Unsupported, "%s in SET of a LOAD DATA, which would be the shard's connection's: put the value into a user variable first", load.Speaks)
	}
	return nil
}

func planLoad(s *stmt.Statement, t *catalog.Table, ctx Context) (Plan, error) {
	in := s.Load
	switch {
	case in == nil:
		return nil, refuse(Unsupported, "LOAD XML into %s table %s: use LOAD DATA LOCAL, or insert the rows, many to a statement", t.Kind, t.TableName)
	case in.Queries:
		return nil, refuse(Unsupported, "a query in SET of a LOAD DATA into %s table %s: read the values first", t.Kind, t.TableName)
	}
	for _, name := range in.Reads {
		if !in.Fills(name) {
			return nil, refuse(Unsupported, "column %s in SET of a LOAD DATA into %s table %s, which the file does not fill: name it in the list of columns", name, t.Kind, t.TableName)
		}
	}
	load, err := loaded(in, t, ctx)
	if err != nil {
		return nil, err
	}
	load.Writes = true
	return load, load.planBatch(load.Around(), 0, ctx)
}

// loaded returns the Load with the columns that the statement fills. It checks that an INSERT of them can be planned, before the
// client is asked for the file.
func loaded(in *stmt.Loading, t *catalog.Table, ctx Context) (*Load, error) {
	list := &stmt.Insertion{Columns: in.Columns, HasList: in.Listed}
	columns, err := columnsOf(list, t)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(columns, func(c int) bool { return t.Columns[c].Generated }); i >= 0 {
		return nil, refuse(RowShape, "LOAD DATA into column %s of %s, which is generated: name the other columns", t.Columns[columns[i]].Name, t.TableName)
	}
	load := &Load{Destination: Destination{Into: t, Columns: columns}, Replace: in.Replace}
	if t.Kind == catalog.Global {
		if len(columns) == 0 {
			return nil, refuse(RowShape, "LOAD DATA that fills no column of %s", t.TableName)
		}
		var in *Insertion
		if in, err = planCopies(list, t); in.Numbered() != nil {
			load.generated = append(load.generated, in.number)
		}
	} else {
		err = load.setGenerated(list, ctx)
	}
	for i, c := range t.Columns {
		if must := !c.Nullable && !c.HasDefault && !c.Generated && !c.AutoIncrement; must && !slices.Contains(load.generated, i) && !slices.Contains(load.Columns, i) {
			load.Columns = append(load.Columns, i)
		}
	}
	return load, err
}

// setGenerated sets generated to the generated columns of a sharded table.
func (load *Load) setGenerated(list *stmt.Insertion, ctx Context) error {
	in, err := planInsertion(list, load.Into)
	if err == nil {
		err = in.checkDuplicates("LOAD DATA LOCAL, which keeps or replaces rows that are there, of", ctx.unseen(load.Into))
	}
	if err != nil {
		return err
	}
	for stamp := range in.Places() {
		load.generated = append(load.generated, in.Column(Stamp(stamp)))
	}
	return nil
}

func (load *Load) explain(e *explainer) {
	e.addLine("load", "the first shard reads the file into a temporary table, and its rows are inserted as by %s", load.Around().Head)
	if load.Into.Kind == catalog.Sharded {
		root := load.Into.Root()
		e.addLine("why", "each row goes where its %s, the %s of %s, has its gene", root.Column.Name, root.Role, load.Into.TableName)
	}
}
