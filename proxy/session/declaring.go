package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
)

// Declarations changes what the cluster declares.
type Declarations interface {
	// Declare adds a table's declaration on behalf of a user. It changes nothing if the same is declared. The error says why the table
	// can't be declared; if changed is true, the declaration may have been written nevertheless.
	Declare(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) (changed bool, err error)
	// Withdraw removes a declaration, unless another one has replaced it.
	Withdraw(ctx context.Context, name catalog.TableName, d catalog.Declaration, by string) error
}

// declaring is a definition in progress that may also declare its table.
//
// The table is declared first. All proxies know the declaration before any shard has the table, and refuse statements on it until all
// shards have it. So no row can be written where no proxy would look for it. If the definition fails after that, the declaration is
// withdrawn.
type declaring struct {
	*Services
	user string
	at   *exec.Request
	*plan.Declaring

	declared bool               // by this statement
	gene     bool               // the column for the gene was added on the default shard
	copied   []router.ShardName // where the table was made as the default shard has it
	left     string             // of what could not be taken back
	stands   bool               // some of that is on shards
	refused  error              // after the definition itself
}

// declareTime is the time limit of one write of a declaration.
const declareTime = 10 * time.Second

func undeclarable(format string, args ...any) error {
	return &plan.Refusal{Code: plan.Undeclarable, Message: fmt.Sprintf(format, args...)}
}

// declaring returns the state of a definition. It declares nothing unless its plan says so.
func (s *Session) declaring(at *exec.Request) *declaring {
	d := &declaring{Services: s.Services, user: s.user, at: at}
	if p, is := at.Plan.(*plan.Definition); is {
		d.Declaring, at.Added = p.Declares, p.Added
	}
	return d
}

// begin declares the table before any shard has it. A table that exists on the default shard is created on the others.
func (d *declaring) begin() error {
	if d.Declaring == nil {
		return nil
	}
	if now, is := d.Snapshot().Catalog.Declared(d.Table); is { // by whose turn it was before
		d.Declaring = nil
		if !now.Agrees(d.said()) {
			return undeclarable("the table has been declared as %q meanwhile, and the comment says %q", now.Words(), d.said().Words())
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
	return d.at.Plan.(*plan.Definition).Declares.Declaration
}

// end withdraws the declaration of a table that could not be made, or that doesn't fit its declaration. A table that existed before stays
// declared: every shard has it, and the statement may be repeated for its comment.
func (d *declaring) end(e exec.Defined) {
	switch {
	case d.Declaring == nil || d.Exists:
	case e.Err != nil:
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
	if err := d.looked(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(d.at.Conns.Waits(), declareTime)
	defer cancel()
	changed, err := d.Declarations.Declare(ctx, d.Table, d.Declaration, d.user)
	if d.declared = changed; err != nil {
		return undeclarable("%v", err)
	}
	change := d.changed()
	if changed {
		change = catalog.Change{Declared: true} // what a proxy doesn't know yet is read together with the declaration
	}
	if err := d.Redefined(d.at.Conns.Waits(), change); err != nil {
		return undeclarable("table %s: not every proxy knows of the declaration: %v", d.Table, err)
	}
	return nil
}

// changed returns what the definition changes.
func (d *declaring) changed() catalog.Change {
	return catalog.Change{Tables: []catalog.TableName{d.Table}}
}

func (d *declaring) name() string { return plan.Quote(d.Table.Schema) + "." + plan.Quote(d.Table.Name) }

// looked refuses the declaration if a shard already has a table that is to be created, or if a table that exists has rows.
func (d *declaring) looked() error {
	var has []router.ShardName
	first := d.at.Catalog.First()
	texts, err := d.createdOn(d.at.Catalog.Shards)
	if err != nil {
		return err
	}
	for i, shard := range d.at.Catalog.Shards {
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
	case !d.Exists && has != nil && d.at.Facts.Statement.IfNotExists != nil:
		return undeclarable("table %s is on %s already, and not declared: without rows, ALTER TABLE … COMMENT declares it; with rows locus import shards it", d.Table, catalog.List(has))
	case !d.Exists && has != nil:
		return wire.Errorf(mysql.ER_TABLE_EXISTS_ERROR, "42S01", "Table '%s' already exists on %s", d.Table.Name, catalog.List(has))
	}
	return nil
}

// created returns the text that makes the table as a shard has it, or "" if the table isn't there.
func (d *declaring) created(shard router.ShardName) (string, error) {
	texts, err := d.createdOn([]router.ShardName{shard})
	return strings.Join(texts, ""), err
}

// createdOn is created of several shards at once, in their order.
func (d *declaring) createdOn(shards []router.ShardName) ([]string, error) {
	rows, errs := d.at.AskEach(shards, backend.Default, "SHOW CREATE TABLE "+d.name())
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
	rows, err := d.at.Ask(shard, backend.Default, "SELECT 1 FROM "+d.name()+" LIMIT 1"+locking)
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
		if err = d.Redefined(d.at.Conns.Waits(), d.changed()); err != nil {
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
	first := d.at.Catalog.First()
	if !d.Declaration.MakesGene() {
		return nil
	}
	has, err := d.at.Ask(first, backend.Default, "SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+backend.Quote(d.Table.Schema)+
		" AND TABLE_NAME = "+backend.Quote(d.Table.Name)+" AND COLUMN_NAME = "+backend.Quote(catalog.OwnGene))
	if err != nil || len(has.Rows) > 0 {
		return err
	}
	if err := d.execApart(d.at.Conns.Waits(), first, "ALTER TABLE "+d.name()+" ADD ("+catalog.OwnGeneDefinition+")"); err != nil {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.at.Context), txn.UndoTime)
	defer cancel()
	first := d.at.Catalog.First()
	if err := d.execApart(ctx, first, "ALTER TABLE "+d.name()+" DROP COLUMN "+plan.Quote(catalog.OwnGene)); err != nil {
		d.stands = true
		d.left += "; column " + catalog.OwnGene + " was added on " + string(first) + " and could not be dropped there again: drop it"
	}
}

func (d *declaring) copy() error {
	first := d.at.Catalog.First()
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
		return undeclarable("shard %s says how table %s is made in a way that isn't known: create it on every shard, and declare it by locus table add", first, d.Table)
	}
	for _, shard := range d.at.Catalog.Shards {
		there, err := d.created(shard)
		if err != nil {
			return err
		}
		if there != "" {
			continue
		}
		if err := d.execApart(d.at.Conns.Waits(), shard, "CREATE TABLE "+d.name()+" "+exec.WithoutNextNumber(body)); err != nil {
			return fmt.Errorf("make table %s on shard %s: %w", d.Table, shard, err)
		}
		d.copied = append(d.copied, shard)
	}
	return nil
}

func (d *declaring) execApart(ctx context.Context, shard router.ShardName, text string) error {
	l, err := d.at.Apart(shard, backend.Default)
	if err != nil {
		return err
	}
	if _, err := l.Conn.Own().Exec(ctx, text); err != nil {
		l.Fail(err)
		return err
	}
	l.Done(l.Conn.Status())
	return nil
}

// drop drops the table on shards, and returns the shards where that failed.
func (d *declaring) drop(shards []router.ShardName) (left []router.ShardName) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.at.Context), txn.UndoTime)
	defer cancel()
	for _, shard := range shards {
		if err := d.execApart(ctx, shard, "DROP TABLE IF EXISTS "+d.name()); err != nil {
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
	if _, unread := errors.AsType[*catalog.NowhereError](m.Err); unread { // the shards have not been read since
		if err := d.Redefined(d.at.Conns.Waits(), d.changed()); err != nil {
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
	if left := d.drop(d.at.Catalog.Shards); left != nil {
		d.left = "; it was made on every shard, and could not be dropped again on " + catalog.List(left) +
			": it stays declared, and is refused; drop it, then take the declaration away by locus table drop"
		return
	}
	d.withdraw()
}

// takeBack withdraws the declaration of a table that could not be made. If the table is left on a shard, the declaration stays, so that
// the statement can be repeated.
func (d *declaring) takeBack() {
	for _, shard := range d.at.Catalog.Shards {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.at.Context), txn.UndoTime)
	defer cancel()
	err := d.Declarations.Withdraw(ctx, d.Table, d.Declaration, d.user)
	if err == nil {
		err = d.Redefined(ctx, d.changed())
	}
	if err != nil {
		d.left += fmt.Sprintf("; the declaration could not be taken back (%v): locus table drop %s does", err, d.Table)
	}
}
