package ddl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Declarations changes the cluster's declarations.
type Declarations interface {
	// Declare adds a table's declaration on behalf of a user. It changes nothing if the same declaration exists. The error
	// states why the table can't be declared. If changed is true, the declaration may have been written nevertheless.
	Declare(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) (changed bool, err error)
	// Withdraw removes a declaration, unless another one has replaced it.
	Withdraw(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) error
	// Redeclare replaces the declaration from by to. The error states that another declaration has replaced it, or why it
	// could not be written.
	Redeclare(ctx context.Context, name catalog.TableName, from, to catalog.Declaration, by string) error
}

// declaring is a running definition that may also declare its table.
//
// The table is declared first. All proxies know the declaration before any shard has the table, and refuse
// statements on it until all shards have it. So no row can be written to a shard where other proxies would not
// search for it. If the definition fails after that, the declaration is withdrawn.
type declaring struct {
	*definition
	*plan.Declaring // nil: it declares nothing

	declared bool               // by this statement
	gene     bool               // the column for the gene was added on the default shard
	copied   []router.ShardName // shards on which the table was created with the default shard's definition
	left     string             // description of the changes that could not be undone
	stands   bool               // some of that is on shards
	refused  error              // after the definition itself
}

// declareTime is the time limit of one write of a declaration.
const declareTime = 10 * time.Second

// begin declares the table before any shard has it. A table that exists on the default shard is created on the others.
func (d *declaring) begin() error {
	if d.Declaring == nil {
		return nil
	}
	if now, is := d.Snapshot().Catalog.Declared(d.Table); is { // another session that held the lock before has declared it
		d.Declaring = nil
		if !now.Agrees(d.said()) {
			return undeclarable("the table has been declared as %q in the meantime, and the comment has %q", now.Words(), d.said().Words())
		}
		return nil
	}
	err := d.declare()
	if err == nil && d.Exists {
		err = d.spread()
	}
	if err != nil {
		d.withdraw()
	}
	return err
}

// said returns the declaration in the comment.
func (d *declaring) said() catalog.Declaration {
	return d.Plan.Declares.Declaration
}

// end withdraws the declaration of a table that could not be made, or that doesn't fit its declaration. A table that existed before stays
// declared: every shard has it, and the statement may be repeated for its comment.
func (d *declaring) end(out Outcome) {
	switch {
	case d.Declaring == nil || d.Exists:
	case out.Err != nil:
		d.takeBack()
	default:
		if misfit := d.misfit(); misfit != "" {
			d.dropped()
			d.refused = undeclarable("%s%s", misfit, d.left)
		}
	}
}

// declare declares the table, unless a shard has something that prevents that.
func (d *declaring) declare() error {
	if d.Declarations == nil || d.Redefined == nil {
		return undeclarable("nothing can be declared through this proxy: locus table add declares tables")
	}
	if err := d.look(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(d.Conns.Waits(), declareTime)
	defer cancel()
	changed, err := d.Declarations.Declare(ctx, d.Table, d.Declaration, d.User)
	if d.declared = changed; err != nil {
		return undeclarable("%v", err)
	}
	change := d.changed()
	if changed {
		change = catalog.Change{Declared: true} // objects that a proxy doesn't know yet are read together with the declaration
	}
	if err := d.Redefined(d.Conns.Waits(), change); err != nil {
		return undeclarable("table %s: not every proxy knows of the declaration: %v", d.Table, err)
	}
	return nil
}

// changed returns the changes of the definition.
func (d *declaring) changed() catalog.Change {
	return catalog.Change{Tables: []catalog.TableName{d.Table}}
}

func (d *declaring) name() string { return plan.Quote(d.Table.Schema) + "." + plan.Quote(d.Table.Name) }

// look returns an error if a shard already has a table that is to be created, or if an existing table has rows.
func (d *declaring) look() error {
	var has []router.ShardName
	first := d.catalog.First()
	texts, err := d.createdOn(d.catalog.Shards)
	if err != nil {
		return err
	}
	for i, shard := range d.catalog.Shards {
		text := texts[i]
		if text == "" {
			continue
		}
		if has = append(has, shard); !d.Exists {
			continue
		}
		if !strings.HasPrefix(text, "CREATE TABLE ") {
			return undeclarable("%s is no table of its own on shard %s: declare the tables that it reads", d.Table, shard)
		}
		if shard == first {
			if err := d.fits(); err != nil {
				return err
			}
		}
		if err := d.empty(shard, ""); err != nil {
			return err
		}
	}
	switch {
	case d.Exists && !slices.Contains(has, first):
		return wire.Errorf(mysql.ER_NO_SUCH_TABLE, "42S02", "Table '%s' doesn't exist", d.Table)
	case !d.Exists && has != nil && d.Facts.Statement.IfNotExists != nil:
		return undeclarable("table %s is on %s already, and not declared: without rows, ALTER TABLE … COMMENT declares it; with rows locus import shards it", d.Table, catalog.List(has))
	case !d.Exists && has != nil:
		return wire.Errorf(mysql.ER_TABLE_EXISTS_ERROR, "42S01", "Table '%s' already exists on %s", d.Table.Name, catalog.List(has))
	}
	return nil
}

// created returns a shard's CREATE TABLE statement of the table, or "" if the shard lacks the table.
func (d *declaring) created(shard router.ShardName) (string, error) {
	texts, err := d.createdOn([]router.ShardName{shard})
	return strings.Join(texts, ""), err
}

// createdOn is created of several shards at once, in their order.
func (d *declaring) createdOn(shards []router.ShardName) ([]string, error) {
	rows, errs := d.Conns.AskEach(shards, 0, backend.Default, "SHOW CREATE TABLE "+d.name())
	texts := make([]string, len(shards))
	for i, err := range errs {
		switch {
		case txn.IsRefusal(err):
		case err != nil:
			return nil, err
		case len(rows[i].Rows) == 1 && len(rows[i].Rows[0]) > 1:
			texts[i] = string(rows[i].Rows[0][1])
		}
	}
	return texts, nil
}

// empty refuses a table that has rows. Locking is FOR UPDATE, which waits for transactions that have inserted some.
func (d *declaring) empty(shard router.ShardName, locking string) error {
	rows, err := d.Conns.Ask(shard, 0, backend.Default, "SELECT 1 FROM "+d.name()+" LIMIT 1"+locking)
	if err != nil {
		return err
	}
	if len(rows.Rows) > 0 {
		return undeclarable("table %s has rows on shard %s, which would not be found where they are: locus import, or CALL locus.import, shards a table with rows, and brings them to their shards; a comment declares one without", d.Table, shard)
	}
	return nil
}

// spread creates a table of the default shard on the other shards, and checks that it fits its declaration. The proxies refuse statements
// on it until all shards have it.
func (d *declaring) spread() error {
	err := d.copy()
	if err == nil {
		if err = d.Redefined(d.Conns.Waits(), d.changed()); err != nil {
			err = undeclarable("table %s: not every proxy has read the table: %v", d.Table, err)
		}
	}
	if misfit := d.misfit(); err == nil && misfit != "" {
		err = undeclarable("%s", misfit)
	}
	if err == nil {
		return nil
	}
	if left := d.drop(d.copied); left != nil {
		d.stands, d.left = true, "; the table was made on "+catalog.List(left)+" and could not be dropped there again: drop it, connected to the shard"
	}
	d.takeGene()
	return err
}

// ownGene adds the column for the gene to a table without rows that is on the default shard alone.
func (d *declaring) ownGene() error {
	first := d.catalog.First()
	if !d.Declaration.MakesGene() {
		return nil
	}
	has, err := d.Conns.Ask(first, 0, backend.Default, "SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+backend.Quote(d.Table.Schema)+
		" AND TABLE_NAME = "+backend.Quote(d.Table.Name)+" AND COLUMN_NAME = "+backend.Quote(catalog.OwnGene))
	if err != nil || len(has.Rows) > 0 {
		return err
	}
	if err := d.Conns.Exec(d.Conns.Waits(), first, backend.Default, "ALTER TABLE "+d.name()+" ADD ("+catalog.OwnGeneDefinition+")"); err != nil {
		return fmt.Errorf("add column %s to table %s on shard %s: %w", catalog.OwnGene, d.Table, first, err)
	}
	d.gene = true
	return nil
}

// takeGene drops that column again.
func (d *declaring) takeGene() {
	if !d.gene {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), txn.UndoTime)
	defer cancel()
	first := d.catalog.First()
	if err := d.Conns.Exec(ctx, first, backend.Default, "ALTER TABLE "+d.name()+" DROP COLUMN "+plan.Quote(catalog.OwnGene)); err != nil {
		d.stands = true
		d.left += "; column " + catalog.OwnGene + " was added on " + string(first) + " and could not be dropped there again: drop it"
	}
}

// copy creates the table of the default shard on the shards that lack it.
func (d *declaring) copy() error {
	first := d.catalog.First()
	if err := d.empty(first, " FOR UPDATE"); err != nil {
		return err
	}
	if err := d.ownGene(); err != nil {
		return err
	}
	text, err := d.created(first)
	if err != nil {
		return err
	}
	body, as := strings.CutPrefix(text, "CREATE TABLE "+plan.Quote(d.Table.Name)+" ")
	if !as {
		return undeclarable("SHOW CREATE TABLE on shard %s returns a text for table %s that locus can't read: create the table on every shard, and declare it by locus table add", first, d.Table)
	}
	for _, shard := range d.catalog.Shards {
		there, err := d.created(shard)
		if err != nil {
			return err
		}
		if there != "" {
			continue
		}
		if err := d.Conns.Exec(d.Conns.Waits(), shard, backend.Default, "CREATE TABLE "+d.name()+" "+WithoutNextNumber(body)); err != nil {
			return fmt.Errorf("make table %s on shard %s: %w", d.Table, shard, err)
		}
		d.copied = append(d.copied, shard)
	}
	return nil
}

// drop drops the table on shards, and returns the shards where that failed.
func (d *declaring) drop(shards []router.ShardName) (left []router.ShardName) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), txn.UndoTime)
	defer cancel()
	for _, shard := range shards {
		if err := d.Conns.Exec(ctx, shard, backend.Default, "DROP TABLE IF EXISTS "+d.name()); err != nil {
			left = append(left, shard)
		}
	}
	return left
}

// misfit returns why the table, as this proxy has read it, doesn't fit its declaration; empty if it fits.
func (d *declaring) misfit() string {
	m := d.Snapshot().Catalog.Unfit(d.Table)
	if m == nil {
		return d.differing()
	}
	if _, unread := errors.AsType[*catalog.MissingTableError](m.Err); unread { // the shards have not been read since
		if err := d.Redefined(d.Conns.Waits(), d.changed()); err != nil {
			return fmt.Sprintf("table %s: it was made, and the proxies could not read it: %v", d.Table, err)
		}
		if m = d.Snapshot().Catalog.Unfit(d.Table); m == nil {
			return d.differing()
		}
	}
	return m.Err.Error()
}

// differing returns why a table can't be declared that has other columns on some shard.
func (d *declaring) differing() string {
	t, err := d.Snapshot().Catalog.Find(d.Table)
	if err != nil || t == nil || t.Differing() == nil {
		return ""
	}
	return t.Differing().Error()
}

// dropped drops a table again that was made on every shard and doesn't fit its declaration. No proxy has let a client write to it.
func (d *declaring) dropped() {
	if left := d.drop(d.catalog.Shards); left != nil {
		d.left = "; it was made on every shard, and could not be dropped again on " + catalog.List(left) +
			": it stays declared, and is refused; drop it, then take the declaration away by locus table drop"
		return
	}
	d.withdraw()
}

// takeBack withdraws the declaration of a table that could not be made. If the table is left on a shard, the declaration stays, so that
// the statement can be repeated.
func (d *declaring) takeBack() {
	for _, shard := range d.catalog.Shards {
		if text, err := d.created(shard); err != nil || text != "" {
			d.left = "; the table stays declared"
			return
		}
	}
	d.withdraw()
}

// withdraw withdraws the declaration after a failure.
func (d *declaring) withdraw() {
	if !d.declared {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.Context), txn.UndoTime)
	defer cancel()
	err := d.Declarations.Withdraw(ctx, d.Table, d.Declaration, d.User)
	if err == nil {
		err = d.Redefined(ctx, d.changed())
	}
	if err != nil {
		d.left += fmt.Sprintf("; the declaration could not be taken back (%v): locus table drop %s does", err, d.Table)
	}
}

// fits returns an error that lists everything that prevents an existing table from having the declaration in its comment.
func (d *declaring) fits() error {
	first := d.catalog.First()
	var why []string
	shard := querier{d.Conns, first}
	if err := schema.Fit(d.Conns.Waits(), shard, d.Table, d.Declaration, d.Under.Map.Width()); err != nil {
		why = append(why, strings.ReplaceAll(strings.TrimPrefix(err.Error(), fmt.Sprintf("table %s: ", d.Table)), "\n", "; "))
	}
	keys, err := d.foreignKeys(shard)
	if err != nil {
		return err
	}
	if keys == nil {
		for _, err := range d.catalog.ForeignKeyErrors(d.Table, d.Declaration) {
			keys = append(keys, err.Error())
		}
	}
	if why = append(why, keys...); why != nil {
		return undeclarable("table %s: %s", d.Table, strings.Join(why, "; "))
	}
	return nil
}

// foreignKeys returns the foreign keys to tables whose rows are on one shard alone. Rows of this table on other shards could not refer to
// those rows.
func (d *declaring) foreignKeys(shard querier) (list []string, err error) {
	rows, err := shard.Query(d.Conns.Waits(), "SELECT DISTINCT CONSTRAINT_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME "+
		"FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = "+backend.Quote(d.Table.Schema)+" AND TABLE_NAME = "+backend.Quote(d.Table.Name)+
		" AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("information_schema gave %d columns, 3 were asked for", len(row))
		}
		to := catalog.TableName{Schema: string(row[1]), Name: string(row[2])}
		if there, is := d.catalog.Declared(to); to == d.Table || is && there.Kind != catalog.Single && there.Kind != catalog.Outside {
			continue
		}
		list = append(list, fmt.Sprintf("foreign key %s refers to table %s, whose rows are on one shard alone: declare that table first, or drop the foreign key and let the application enforce it", row[0], to))
	}
	return list, nil
}

// querier sends queries to one shard.
type querier struct {
	conns *txn.Connections
	shard router.ShardName
}

// Query implements schema.Querier.
func (q querier) Query(_ context.Context, sql string) ([][][]byte, error) {
	rows, err := q.conns.Ask(q.shard, 0, backend.Default, sql)
	if err != nil {
		return nil, err
	}
	return rows.Rows, nil
}
