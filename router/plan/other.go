package plan

import (
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planOther plans statements of which only the tables are known.
func planOther(s *stmt.Statement, ctx Context) (Plan, error) {
	if s.Features&stmt.TemporaryTable != 0 {
		return planTemporary(s, ctx)
	}
	if ctx.truncatesOwn(s) {
		return &Local{Facts: Facts{Writes: true}}, nil
	}
	if err := ctx.checkOnlineCopy(s); err != nil {
		return nil, err
	}
	if p, err := ctx.planDeclaring(s); p != nil || err != nil {
		return p, err
	}
	if p, err := ctx.planLike(s); p != nil || err != nil {
		return p, err
	}
	if p, err := ctx.planRenaming(s); p != nil || err != nil {
		return p, err
	}
	if p, err := ctx.planEverywhere(s); p != nil || err != nil {
		return p, err
	}
	if err := ctx.checkForeignKeys(s); err != nil {
		return nil, err
	}
	shard := router.ShardName("")
	for _, name := range s.Tables {
		on, t, err := ctx.onlyShard(s, name)
		if err != nil {
			return nil, err
		}
		switch {
		case t == nil:
		case s.Features&stmt.SwitchesKeys != 0:
			// InnoDB has no such switch. Dumps write it before and after their rows.
			return &Local{}, nil
		case s.Kind == stmt.LoadData:
			return planLoad(s, t, ctx)
		default:
			return nil, refuseSpread(s, t)
		}
		if shard != "" && shard != on {
			return nil, refuse(CrossShard, "it names tables that live on shards %s and %s: write one statement for each", shard, on)
		}
		shard = on
	}
	if shard == "" {
		shard = ctx.Catalog.First()
	}
	facts := Facts{Writes: true, KeepsInsertID: true, ReadsInsertID: s.Features&stmt.ReadsInsertID != 0 || s.Kind == stmt.LoadData}
	return &OneShard{Facts: facts, Shard: shard}, nil
}

// onlyShard returns the only shard that a table is on, or the table if its rows are on several shards. A definition may name a table
// that doesn't fit its declaration, because the definition may fix that.
func (c Context) onlyShard(s *stmt.Statement, name stmt.TableName) (router.ShardName, *catalog.Table, error) {
	if unfit := c.Catalog.Unfit(c.fullName(name)); unfit != nil && unfit.Kind == catalog.Single && s.Features&(stmt.Redefines|stmt.MakesTable) != 0 && !c.isTemporary(c.fullName(name)) {
		return unfit.Shard, nil, nil
	}
	t, err := c.find(name)
	switch {
	case err != nil:
		return "", nil, err
	case t == nil:
		return c.Catalog.First(), nil, nil
	case t.Kind == catalog.Single:
		return t.Shard, nil, nil
	}
	return "", t, nil
}

// truncatesOwn reports whether the statement is TRUNCATE of a table that the proxy provides and that no shard has.
func (c Context) truncatesOwn(s *stmt.Statement) bool {
	return s.Verb == "TRUNCATE" && len(s.Tables) == 1 && strings.EqualFold(c.schemaOf(s.Tables[0]), stmt.Own) &&
		stmt.OwnTables[strings.ToLower(s.Tables[0].Name)]
}

// refuseSpread returns the refusal of a statement on a table whose rows are on several shards. Its message contains the
// remedy. The remedy must never be to run on each shard a statement that would have different results there.
func refuseSpread(s *stmt.Statement, t *catalog.Table) error {
	instead := "leave that table out of it"
	switch s.Verb {
	case "ANALYZE", "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR":
		instead = "name it in a statement of its own"
	case "FLUSH", "CACHE":
		instead = "run it on each shard, connected to it"
	case "RENAME", "ALTER":
		if len(s.Renamed) > 0 {
			instead = "a table that is on one shard can't have its name: drop it, and take its declaration away by locus table drop, or take another name"
		}
	case "CREATE":
		instead = "create the new table on every shard, without a foreign key to that one, and declare it in cluster.yaml (locus apply)"
	}
	return refuse(Unsupported, "%s on %s table %s: %s", s.Verb, t.Kind, t.TableName, instead)
}

// planEverywhere plans statements that every shard runs by itself: definitions of sharded and global tables only, and the
// maintenance of such tables. It returns nil, nil for other statements.
func (c Context) planEverywhere(s *stmt.Statement) (Plan, error) {
	if s.Features&stmt.MakesTable != 0 {
		return c.planCreate(s)
	}
	if c.viewEverywhere(s) {
		return &Definition{Facts: Facts{Writes: true}}, nil
	}
	maintains := maintains(s)
	if !maintains && (s.Kind != stmt.DDL || s.Features&stmt.Redefines == 0 || s.Features&stmt.SwitchesKeys != 0) || len(s.Tables) == 0 {
		return nil, nil
	}
	for _, name := range s.Tables {
		spread, err := c.onEveryShard(name)
		if err == nil && !spread {
			return c.planDropping(s)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.Verb == "CHECKSUM" { // it reads all columns
		if err := c.checkChecksum(s.Tables); err != nil {
			return nil, err
		}
	}
	if maintains {
		return &Maintenance{Facts: Facts{Writes: true}, Stays: s.Verb != "ANALYZE" && s.Verb != "CHECK"}, nil
	}
	if err := c.checkWritable(s); err != nil {
		return nil, err
	}
	return &Definition{Facts: Facts{Writes: true}, Adds: c.addedColumns(s), Course: course(s)}, nil
}

// checkWritable refuses a definition whose foreign keys would make it impossible to write to a table.
func (c Context) checkWritable(s *stmt.Statement) error {
	if err := c.checkForeignKeys(s); err != nil {
		return err
	}
	for _, k := range s.ForeignKeys {
		child := c.fullName(s.Tables[0])
		if k.Name == "" {
			k.Name = "(" + strings.Join(k.Columns, ", ") + ")"
		}
		err := c.Catalog.ForeignKeyError(&catalog.ForeignKey{
			TableName: child, Name: k.Name, Columns: k.Columns, References: c.fullName(k.References), Referred: k.Referred, OnDelete: k.OnDelete, OnUpdate: k.OnUpdate,
		}, c.declaration(s, child))
		if err != nil {
			return refuse(TooFar, "nothing could be written to %s nor to %s any more: %v", child, c.fullName(k.References), err)
		}
	}
	return nil
}

// checkChecksum refuses CHECKSUM TABLE of tables that have more columns on the shards than on a single server.
func (c Context) checkChecksum(tables []stmt.TableName) error {
	for _, name := range tables {
		if d, is := c.Catalog.Declared(c.fullName(name)); is && d.MakesGene() {
			return refuse(Unsupported, "CHECKSUM TABLE of %s, which has the hidden column %s: servers would count it: compare by COUNT(*) and by sums of CRC32(…)", c.fullName(name), catalog.OwnGene)
		}
	}
	return c.checkUneven(tables)
}

// course returns how shards run a definition of an existing table.
func course(s *stmt.Statement) Course {
	switch {
	case s.Verb == "TRUNCATE", s.Altering != nil && s.Altering.Reshapes:
		return Locked
	case len(s.Dropped) > 0:
		return AtOnce
	}
	return Severally
}

// addedColumns returns the columns that an ALTER TABLE adds while the table is in use. It returns nil for other definitions, and if a row
// needs a value for one of the columns.
func (c Context) addedColumns(s *stmt.Statement) []stmt.AddedColumn {
	if s.Altering == nil || s.Altering.Adds == nil {
		return nil
	}
	t, err := c.find(s.Tables[0])
	if err != nil || t == nil || slices.ContainsFunc(s.Altering.Adds, func(a stmt.AddedColumn) bool {
		return !a.Optional || t.Kind == catalog.Global && !a.Constant
	}) {
		return nil
	}
	return s.Altering.Adds
}

// planCreate plans CREATE TABLE of a table that is declared to be on every shard. The table may exist: the shards check that.
func (c Context) planCreate(s *stmt.Statement) (Plan, error) {
	if len(s.Tables) == 0 {
		return nil, nil
	}
	if spread, err := c.onEveryShard(s.Tables[0]); err != nil || !spread {
		return nil, err
	}
	declared, _ := c.Catalog.Declared(c.fullName(s.Tables[0]))
	if err := c.checkLike(s, declared); err != nil {
		return nil, err
	}
	added, err := c.ownGene(s, declared)
	if err != nil {
		return nil, err
	}
	return &Definition{Facts: Facts{Writes: true}, Added: added}, c.checkCreate(s)
}

// ownGene returns the insertion of the gene column into a CREATE TABLE, if the table is declared to have one. CREATE TABLE … LIKE
// needs no insertion if the other table has the column.
func (c Context) ownGene(s *stmt.Statement, d catalog.Declaration) ([]Splice, error) {
	switch {
	case s.Features&stmt.MakesTable == 0 || !d.MakesGene():
		return nil, nil
	case s.DefinitionsEnd != nil:
		return []Splice{{*s.DefinitionsEnd, ", " + catalog.OwnGeneDefinition}}, nil
	case len(s.Tables) > 1:
		if like, is := c.Catalog.Declared(c.fullName(s.Tables[1])); is && like.MakesGene() {
			return nil, nil
		}
	}
	return nil, refuse(Unsupported, "CREATE TABLE of %s, which is sharded by %s and has no ID that tells a row's gene, without a list of columns: write its columns out", c.fullName(s.Tables[0]), d.Owner)
}

// checkCreate refuses CREATE TABLE of a declared table if the tables would differ between shards. A foreign key to a missing
// table is allowed, as servers allow it with foreign_key_checks off: dumps create that table later. If that table is then on the
// default shard only, both tables are read-only.
func (c Context) checkCreate(s *stmt.Statement) error {
	if s.Effects&stmt.Copies != 0 {
		return refuse(Unsupported, "CREATE TABLE … SELECT of declared table %s, of which each shard would have its own rows: create it with its columns, then INSERT … SELECT", c.fullName(s.Tables[0]))
	}
	for _, name := range s.Tables[1:] {
		if spread, err := c.onEveryShard(name); err != nil || !spread && c.fullName(name) != c.fullName(s.Tables[0]) && !c.Catalog.Missing(c.fullName(name)) {
			if err == nil {
				err = refuse(Unsupported, "CREATE TABLE of declared table %s names %s, which is not on every shard: write its columns out, without LIKE and without a foreign key to that one",
					c.fullName(s.Tables[0]), c.fullName(name))
			}
			return err
		}
	}
	return c.checkWritable(s)
}

// checkForeignKeys refuses to create a table if existing foreign keys refer to it and would make it impossible to write to it.
func (c Context) checkForeignKeys(s *stmt.Statement) error {
	if s.Features&stmt.MakesTable == 0 || len(s.Tables) == 0 || !c.Catalog.Missing(c.fullName(s.Tables[0])) {
		return nil
	}
	name := c.fullName(s.Tables[0])
	if torn := c.Catalog.ForeignKeyErrors(name, c.declaration(s, name)); torn != nil {
		return refuse(TooFar, "%v", torn[0])
	}
	return nil
}

// onEveryShard reports whether a table is on every shard. That includes a table that doesn't fit its declaration, because a definition
// ran on some shards only.
func (c Context) onEveryShard(name stmt.TableName) (bool, error) {
	if unfit := c.Catalog.Unfit(c.fullName(name)); unfit != nil {
		if c.renamingError(c.fullName(name)) != nil {
			return false, refuse(BrokenTable, "%v", unfit.Err)
		}
		return unfit.Kind != catalog.Single, nil
	}
	t, err := c.find(name)
	return t != nil && t.Kind != catalog.Single, err
}

// planMaintained plans ANALYZE TABLE and similar statements in a syntax that the parser doesn't know. It returns nil, nil for other
// statements, and for tables that are on one shard.
func (c Context) planMaintained(l *stmt.Lexed) (Plan, error) {
	names := stmt.Maintained(l)
	if names == nil {
		return nil, nil
	}
	s := noted(l, &stmt.Statement{Kind: stmt.Other, Tables: names})
	if p, err := c.planEverywhere(s); p != nil || err != nil {
		if p != nil {
			p.About().Statement, p.About().Leaves = s, LeavesState
		}
		return p, err
	}
	for _, name := range names {
		if t, err := c.find(name); err != nil || t != nil && t.Kind != catalog.Single {
			if err == nil {
				err = refuseSpread(s, t)
			}
			return nil, err
		}
	}
	return nil, nil
}

// maintains reports whether a statement is ANALYZE TABLE or similar. Such statements return rows.
func maintains(s *stmt.Statement) bool {
	return (s.Kind == stmt.Other || s.Kind == stmt.DDL) && slices.Contains([]string{"ANALYZE", "CHECK", "CHECKSUM", "OPTIMIZE", "REPAIR"}, s.Verb)
}
