package exec

import (
	"context"
	"strings"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/proxy/stamp"
	"locus/proxy/trace"
	"locus/router/cluster"
	"locus/router/plan"
)

// Issuers generate the values that the rows of an INSERT omit.
type Issuers struct {
	IDs stamp.IDs
	// Numbers generates numbers for AUTO_INCREMENT columns; nil: none can be generated.
	Numbers stamp.Numbers
	// Generators contains the generators that the cluster declares; nil: there are none.
	Generators Generators
	// Ring returns the current keys, or nil if there are none.
	Ring func() *cipher.Ring
}

// Generators generate numbers or texts, by the name of the declared generator.
type Generators interface {
	// Texts returns n values of a generator, for a column that is stamped. values replaces {context:…} in a template, and the n
	// genes of the rows {gene:…}.
	Texts(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string, genes []gene.Gene) ([]string, error)
}

// stamp generates the values that the rows of an INSERT omit, and splits the rows by shard. The result's parameters are valid until
// the next Stamp.
func (x *Execution) stamp(p *plan.Stamped) (*stamp.Result, error) {
	defer x.Observer.Trace().Enter(trace.Issue, "")()
	if x.Generators != nil && len(p.Insert.Table.StampedColumns) > 0 {
		declared, values := x.Snapshot.Declared, x.Vars.Context.Values
		x.stamper.Make = func(ctx context.Context, generator string, genes []gene.Gene) ([]string, error) {
			return x.Generators.Texts(ctx, declared, generator, len(genes), values, genes)
		}
	}
	x.setNumbering(p.Insert)
	x.integers = x.integers[:0] // once for all shards, because their parameters are views of it
	var result *stamp.Result
	var err error
	if x.Prepared != nil {
		result, err = x.stamper.StampPrepared(x.Conns.Waits(), p, x.Values, x.Snapshot.Map, x.IDs, x.Ring)
	} else {
		result, err = x.stamper.StampText(x.Conns.Waits(), p, x.Values, x.Snapshot.Map, x.IDs, x.Ring)
	}
	if err == nil {
		err = p.CheckReturning(len(result.Shards))
	}
	if err != nil {
		return nil, err
	}
	x.Observer.CountGenes(x.Snapshot.Map, result.Genes, true)
	return result, nil
}

// setNumbering configures the stamper to number the rows of an INSERT, if its table has an AUTO_INCREMENT column.
func (e *Engine) setNumbering(in *plan.Insertion) {
	if in.Numbered() == nil {
		return
	}
	e.stamper.Numbers, e.stamper.ZeroIsNumber, e.stamper.Unnumbered = e.Numbers, e.zeroIsNumber(), e.unnumbered()
}

// zeroIsNumber reports whether the session's sql_mode has NO_AUTO_VALUE_ON_ZERO, which dumps set.
func (e *Engine) zeroIsNumber() bool {
	literal, _ := e.Vars.Settings.Lookup("sql_mode")
	return strings.Contains(strings.ToUpper(literal), "NO_AUTO_VALUE_ON_ZERO")
}

// unnumbered returns the reason why rows would get other numbers than on one server, or "" if they would not.
func (e *Engine) unnumbered() string {
	if e.Vars.ForcedID != 0 {
		return "insert_id is set, which is for tables that are not sharded: give the number in the row"
	}
	for _, name := range []string{"auto_increment_increment", "auto_increment_offset"} {
		if literal, ok := e.Vars.Settings.Lookup(name); ok && literal != "1" {
			return name + " is " + literal + ", and the cluster counts by one: SET " + name + " = 1, or give the number"
		}
	}
	return ""
}

// stampPart stamps a part of the statement, and counts the generated IDs.
func (x *Execution) stampPart(p *plan.Stamped, v *plan.Values) (*stamp.Result, error) {
	result, err := x.part(p, v).stamp(p)
	if err == nil {
		x.Tally.Stamped.Add(uint64(result.Generated))
	}
	return result, err
}

// stampCopies numbers the rows of an INSERT into a global table.
func (x *Execution) stampCopies(p *plan.Global) (*stamp.Result, error) {
	defer x.Observer.Trace().Enter(trace.Issue, "")()
	x.setNumbering(p.Insert)
	x.integers = x.integers[:0]
	result, err := x.stamper.StampCopies(x.Conns.Waits(), p, x.Values, x.Prepared != nil)
	if err != nil {
		return nil, err
	}
	x.Tally.Stamped.Add(uint64(result.Generated))
	return result, nil
}

// rowsOf returns the numbers in the statement, counted from 1, of the stamped rows that are on a shard.
func (e *Engine) rowsOf(shard int) []int { return e.stamper.RowsOf(shard) }
