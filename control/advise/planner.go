package advise

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Unread and Refused are ways in which a statement doesn't run, next to those of package plan.
const (
	Unread  plan.Way = "unread"
	Refused plan.Way = "refused"
)

// fate contains the planned result of one execution.
type fate struct {
	way  plan.Way
	code plan.Code
	why  string
	// unseen is a table that the statement names and the schema does not contain, or "".
	unseen string
	// owners are the columns that the statement would have to name to run on one shard.
	owners []string
}

// planner plans statements as the proxies would if tables were declared in some way.
type planner struct {
	schema  *Schema
	shards  []router.ShardName
	routes  *router.Map
	catalog *catalog.Catalog
	// scatters allows changes on several shards.
	scatters bool
	route    plan.Route
	last     lastPlan
}

// lastPlan is a plan, with the input that it was made for. Executions of one digest come one after the other and mostly have the same plan.
type lastPlan struct {
	catalog  *catalog.Catalog
	database string
	key      []byte
	plan     plan.Plan
}

func newPlanner(s *Schema, shards int, o Options) (*planner, error) {
	p := &planner{schema: s, scatters: o.ScatterWrites}
	if o.Cluster != nil {
		p.shards, p.routes = o.Cluster.shards, o.Cluster.routes
		return p, nil
	}
	p.shards = shardNames(shards)
	var err error
	p.routes, err = evenMap(p.shards, s.Width)
	return p, err
}

// fateOf plans one execution of a digest.
func (p *planner) fateOf(d *Digest, text string) fate {
	l := d.lexed(p.schema, text)
	return p.plan(l, d.Database, false)
}

func (p *planner) plan(l *stmt.Lexed, database string, again bool) fate {
	made, err := p.made(l, database, again)
	if err != nil {
		return failed(err)
	}
	if r, is := made.(*plan.Rewritten); is && r.Text != "" && !again {
		var inner stmt.Lexed
		inner.Lex([]byte(r.Text), l.Mode)
		return p.plan(&inner, database, true)
	}
	var args stmt.Args
	args.Reset(l, bound(l))
	way, scatters, err := plan.WayOf(made, p.routes, &plan.Values{Args: &args}, &p.route)
	switch {
	case err != nil:
		return failed(err)
	case scatters && !p.scatters:
		return failed(plan.Scattered())
	}
	named := made.About().Statement
	f := fate{way: way, unseen: p.schema.unseen(database, named)}
	switch way {
	case plan.OnAll, plan.ByKeys, plan.ByGathering:
		f.owners = p.ownersOf(database, named)
	}
	return f
}

// ownersOf returns the owners of the sharded tables that a statement names.
func (p *planner) ownersOf(database string, s *stmt.Statement) (owners []string) {
	for _, n := range s.Named() {
		t, err := p.catalog.Find(catalog.TableName{Schema: cmp.Or(n.Schema, database), Name: n.Name})
		if err != nil || t == nil || t.Kind != catalog.Sharded {
			continue
		}
		if owner := n.Name + "." + t.Root().Column.Name; !slices.Contains(owners, owner) {
			owners = append(owners, owner)
		}
	}
	return owners
}

// made returns the plan of a text. If again is true, the text is the same as in the last call.
func (p *planner) made(l *stmt.Lexed, database string, again bool) (plan.Plan, error) {
	last := &p.last
	if last.catalog == p.catalog && last.database == database && l.Err == nil && !again && bytes.Equal(last.key, l.Key) {
		return last.plan, nil
	}
	made, err := plan.Make(l, plan.Context{Catalog: p.catalog, Schema: database, Rewritten: again})
	if err == nil && made.About().Cacheable && !again {
		*last = lastPlan{p.catalog, database, bytes.Clone(l.Key), made}
	}
	return made, err
}

// failed returns the fate of a statement that is not planned.
func failed(err error) fate {
	r, refused := errors.AsType[*plan.Refusal](err)
	switch {
	case !refused:
		return fate{way: Unread, why: err.Error()}
	case r.Code == plan.Unreadable, r.Code == plan.UncertainText, r.Code == plan.SeveralStatements, r.Code == plan.TooLarge:
		return fate{way: Unread, code: r.Code, why: r.Message}
	}
	return fate{way: Refused, code: r.Code, why: r.Message}
}

// declare makes the planner plan under the proposal. Views and routines are known then, and foreign keys that would be in the way are dropped.
// It returns those.
func (p *planner) declare(proposal *Proposal) (dropped []dropping, err error) {
	var tables []*catalog.Table
	declared := map[catalog.TableName]*catalog.Table{}
	for _, name := range proposal.sorted() {
		t, err := resolve(p.schema.byName[name], proposal.of(name), p.schema)
		if err != nil {
			return nil, err
		}
		tables, declared[name] = append(tables, t), t
	}
	listing := *p.schema.Listing
	keys := listing.ForeignKeys
	listing.ForeignKeys = nil
	p.catalog = catalog.NewListed(p.shards, tables, nil, p.listings(&listing, declared))
	for i := range keys {
		if why := p.inTheWay(keys[i], declared); why != "" {
			dropped = append(dropped, dropping{keys[i], why})
		} else {
			listing.ForeignKeys = append(listing.ForeignKeys, keys[i])
		}
	}
	p.catalog = catalog.NewListed(p.shards, tables, nil, p.listings(&listing, declared))
	return dropped, nil
}

// dropping is a foreign key that no longer holds.
type dropping struct {
	key catalog.ForeignKey
	why string
}

// inTheWay returns why a foreign key would refuse writes of sharded tables, or keep rows from moving. It returns "" if it wouldn't.
func (p *planner) inTheWay(f catalog.ForeignKey, declared map[catalog.TableName]*catalog.Table) string {
	of := func(name catalog.TableName) catalog.Declaration {
		if t := declared[name]; t != nil {
			return t.Declaration
		}
		return catalog.Declaration{Kind: catalog.Single}
	}
	if err := p.catalog.ForeignKeyError(&f, of(f.TableName)); err != nil {
		if far, is := errors.AsType[*catalog.ForeignRowsError](err); is {
			return "it reaches " + far.Reach
		}
		return err.Error()
	}
	if obstacles := catalog.KeyObstacles([]catalog.ForeignKey{f}, of); obstacles != nil {
		return obstacles[0].What
	}
	return ""
}

// listings returns the tables and views of each shard: the first one has everything, the others only the declared tables and the views over these.
func (p *planner) listings(all *catalog.Listing, declared map[catalog.TableName]*catalog.Table) map[router.ShardName]*catalog.Listing {
	whole := *all
	whole.Tables, whole.Programs = slices.Clone(all.Tables), slices.Clone(all.Programs)
	list := map[router.ShardName]*catalog.Listing{p.shards[0]: &whole}
	whole.Finish()
	var undeclared, routines []catalog.TableName
	for i := range all.Tables {
		if t := &all.Tables[i]; t.Base() && declared[t.TableName] == nil {
			undeclared = append(undeclared, t.TableName)
		}
	}
	gone := map[string]bool{}
	for _, n := range undeclared {
		gone[n.Name] = true
	}
	for i := range all.Tables {
		if t := &all.Tables[i]; !t.Base() && names(t, gone) {
			undeclared = append(undeclared, t.TableName)
		}
	}
	for i := range all.Programs {
		routines = append(routines, all.Programs[i].TableName)
	}
	rest := whole.Without(undeclared, routines)
	rest.Programs = slices.DeleteFunc(slices.Clone(rest.Programs), func(p catalog.Program) bool { return p.Type == "EVENT" })
	rest.Finish()
	for _, name := range p.shards[1:] {
		list[name] = rest
	}
	return list
}

// names reports whether the query of a view contains one of the names, which servers quote there.
func names(view *catalog.ListedTable, tables map[string]bool) bool {
	for i, part := range strings.Split(view.Query, "`") {
		if i%2 == 1 && tables[part] {
			return true
		}
	}
	return false
}
