package exec

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/trace"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// mostCarriedBytes limits the rows that are sent in the text of a statement, in addition to plan.MostCarried.
const mostCarriedBytes = 64 << 10

// carrying is one statement that runs on the shard of its last table, with the rows of the other tables in its text.
type carrying struct {
	x    *Execution
	plan *plan.Gathering
	// text finds the places of the statement.
	text gathering
	// rows are the rows of each carried table, by its index.
	rows map[int][][][]byte
	// from are the shards whose rows were read, one entry for each query.
	from  []router.ShardName
	bytes int
}

// carry runs a statement on the one shard that has the rows of its last table, with the few rows of the other tables in its text. carried is false
// if the rows are not few, or not on one shard. The client got nothing then.
func (x *Execution) carry(p *plan.Gathering) (carried bool, err error) {
	if p.Carry == nil || x.Textual != nil || x.Vars.Foreign || !x.Snapshot.Map.Moving().Empty() || !x.Snapshot.Map.Divided().Empty() {
		return false, nil
	}
	c := &carrying{x: x, plan: p, text: gathering{x: x, plan: p}}
	own := !x.Conns.Running() && x.Vars.Autocommit
	if !own {
		x.Conns.Imply()
	}
	shard, few, err := c.read()
	switch {
	case err != nil || !few:
		return err != nil, err
	case !own || !c.asksTwice(shard):
		return true, c.run(shard, func(p Part) error { return x.oneShard(p, x.ending()) })
	}
	err = x.Conns.Reading(func() error { // all rows of a shard must be of one moment
		if shard, few, err = c.read(); err != nil || !few {
			return err
		}
		x.Client.Cleared = mysql.SERVER_STATUS_IN_TRANS | statusReadOnly
		defer func() { x.Client.Cleared = 0 }()
		return c.run(shard, func(p Part) error { return x.roundTrip(p, nil) })
	})
	return few || err != nil, err
}

// run sends the statement to the shard that runs it.
func (c *carrying) run(shard router.ShardName, send func(Part) error) error {
	c.x.Tally.Gathered.Add(1)
	c.x.Tally.Carried.Add(1)
	rows, byKey := int64(0), int64(0)
	for table, list := range c.rows {
		rows += int64(len(list))
		if c.plan.Tables[table].ByKey != nil {
			byKey += int64(len(list))
		}
	}
	c.x.Observer.GatheredRows(rows, byKey)
	c.x.Account.Gathered(rows, int64(c.bytes), &c.x.Vars.Diagnostics)
	return send(c.part(shard))
}

// asksTwice reports whether a shard was asked more than once, or would be if the statement ran on this one.
func (c *carrying) asksTwice(last router.ShardName) bool {
	all := append(slices.Clone(c.from), last)
	slices.Sort(all)
	return len(slices.Compact(all)) <= len(c.from)
}

// read reads the rows of the carried tables, and returns the shard that has the rows of the last table. few is false if the rows are not few, or if
// that table's rows may be on several shards.
func (c *carrying) read() (shard router.ShardName, few bool, err error) {
	c.rows, c.from, c.bytes = map[int][][][]byte{}, nil, 0
	carry := c.plan.Carry
	for i := range carry.Tables {
		if few, err := c.readTable(&carry.Tables[i]); err != nil || !few {
			return "", false, err
		}
	}
	last := &c.plan.Tables[carry.Last]
	keys, err := c.keysOf(last.ByKey)
	if err != nil {
		return "", false, err
	}
	if len(keys) == 0 {
		return c.x.gatherShard(c.plan), true, nil
	}
	restricted, _ := last.By(keys)
	var route plan.Route
	if err := restricted.Rows.Locate(c.x.Snapshot.Map, c.x.Values, &route); err != nil {
		return "", false, nil //nolint:nilerr // the rows are gathered
	}
	switch len(route.Shards) {
	case 0:
		return c.x.gatherShard(c.plan), true, nil
	case 1:
		return c.x.Snapshot.Map.Shard(route.Shards[0]), true, nil
	}
	return "", false, nil
}

// readTable reads the rows of a carried table.
func (c *carrying) readTable(carried *plan.Carried) (few bool, err error) {
	t := &c.plan.Tables[carried.Table]
	defer c.x.Observer.Trace().Enter(trace.Table, t.Alias)()
	conditions, err := c.text.filters(t)
	if err != nil || len(conditions) < len(t.Filters) {
		return false, err
	}
	table := *t
	if t.ByKey != nil {
		keys, err := c.keysOf(t.ByKey)
		if err != nil || len(keys) == 0 {
			return err == nil, err
		}
		var condition string
		table, condition = t.By(keys)
		conditions = append(conditions, condition)
	}
	selected := make([]string, len(carried.Columns))
	for i, column := range carried.Columns {
		selected[i] = plan.Quote(t.Alias) + "." + plan.Quote(column.Name)
		if !column.IsInteger() {
			selected[i] = "CAST(" + selected[i] + " AS BINARY)"
		}
	}
	var route plan.Route
	queries, err := table.Queries(c.x.Snapshot.Map, c.x.Values, &route, c.anyShard(), selected, conditions)
	if err != nil {
		return false, nil //nolint:nilerr // the rows are gathered
	}
	parts := make([]Part, len(queries))
	for i, q := range queries {
		parts[i] = Part{Shard: q.Shard, Text: fmt.Appendf(nil, "%s LIMIT %d", q.Text, plan.MostCarried+1)}
		c.from = append(c.from, q.Shard)
	}
	reading := c.x.part(c.plan.Reads(c.x.Facts), c.x.Values)
	answers, err := reading.query(parts, reading.purpose())
	if err != nil {
		return false, err
	}
	for _, answer := range answers {
		if !c.take(carried, answer) {
			return false, nil
		}
	}
	return true, nil
}

// anyShard returns the shard from which rows are read that every shard has.
func (c *carrying) anyShard() router.ShardName {
	if shard, ok := c.x.Conns.Home(); ok {
		return shard
	}
	return c.x.gatherShard(c.plan)
}

// take adds a shard's rows to the rows of a carried table. It returns false if there are too many, or if they don't have the
// described columns.
func (c *carrying) take(carried *plan.Carried, answer *backend.Rows) bool {
	if len(answer.Columns) != len(carried.Columns) {
		return false
	}
	for i, column := range carried.Columns {
		if column.IsInteger() && !describes(column, &answer.Columns[i]) {
			return false
		}
	}
	for _, row := range answer.Rows {
		for i, column := range carried.Columns {
			c.bytes += len(row[i])
			if !column.IsInteger() && !isPlainText(column, row[i]) {
				return false
			}
		}
	}
	c.rows[carried.Table] = append(c.rows[carried.Table], answer.Rows...)
	total := 0
	for _, rows := range c.rows {
		total += len(rows)
	}
	most, _ := c.x.Account.GatherLimits() // with more rows, the statement is gathered, and the limits there refuse it
	return total <= plan.MostCarried && c.bytes <= mostCarriedBytes && int64(total) <= most.Rows && int64(c.bytes) <= most.Bytes
}

// describes reports whether an integer column of an answer has the type of a table's column.
func describes(of *catalog.Column, answered *wire.Column) bool {
	types := map[byte]string{
		mysql.MYSQL_TYPE_TINY: "tinyint", mysql.MYSQL_TYPE_SHORT: "smallint", mysql.MYSQL_TYPE_INT24: "mediumint",
		mysql.MYSQL_TYPE_LONG: "int", mysql.MYSQL_TYPE_LONGLONG: "bigint",
	}
	return types[answered.Type] == of.DataType && answered.Flags&mysql.UNSIGNED_FLAG != 0 == of.Unsigned && answered.Flags&mysql.ZEROFILL_FLAG == 0
}

// isPlainText reports whether a column can store a text that the servers' readers of JSON pass on unchanged.
func isPlainText(of *catalog.Column, text []byte) bool {
	return utf8.Valid(text) && utf8.RuneCount(text) <= of.Length && !slices.ContainsFunc(text, func(b byte) bool { return b < ' ' })
}

// keysOf returns the values by which rows of a table are read.
func (c *carrying) keysOf(by *plan.ByKey) (keys []stmt.Value, err error) {
	carry := c.plan.Carry
	at := slices.IndexFunc(carry.Tables, func(t plan.Carried) bool { return t.Table == by.Table })
	if at < 0 {
		return nil, fmt.Errorf("the rows of table %d were not read", by.Table)
	}
	column := slices.IndexFunc(carry.Tables[at].Columns, func(c *catalog.Column) bool { return c.Name == by.Of })
	if column < 0 {
		return nil, fmt.Errorf("column %s was not read", by.Of)
	}
	for _, row := range c.rows[by.Table] {
		if row[column] == nil {
			continue
		}
		key, ok := stmt.Value{Kind: stmt.String, Text: row[column]}.Integer()
		if !ok {
			return nil, fmt.Errorf("a key of column %s: %q", by.Of, row[column])
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// part returns the statement for the shard that runs it.
func (c *carrying) part(shard router.ShardName) Part {
	bound := c.x.Prepared != nil
	var edits []stmt.Edit
	for i := range c.plan.Carry.Tables {
		carried := &c.plan.Carry.Tables[i]
		t := &c.plan.Tables[carried.Table]
		document := "CONVERT(? USING utf8mb4)"
		if !bound {
			document = fmt.Sprintf("_utf8mb4 x'%x'", c.document(carried))
		}
		edits = append(edits, c.text.edit(t.Start, t.End, carried.Stand(t, document)))
		if h := t.Hints; h.Text != "" {
			edits = append(edits, c.text.edit(h.Start, h.End, ""))
		}
	}
	edits = stmt.SortEdits(c.text.named(edits, c.plan.Unnamed))
	part := Part{Shard: shard, Text: slices.Clone(c.x.Edited(c.x.Values.Text, edits))}
	if bound {
		part.Params = c.params()
	}
	return part
}

// params returns the parameters of the statement, with the rows of the carried tables in their places.
func (c *carrying) params() []wire.Param {
	out := make([]wire.Param, 0, len(c.x.Params)+len(c.plan.Carry.Tables))
	next := 0
	inText := slices.SortedFunc(slices.Values(c.plan.Carry.Tables), func(a, b plan.Carried) int { return a.Table - b.Table }) // tables are in the order of the text
	until := func(end int) {
		for ; next < len(inText) && c.x.Values.Offset(c.plan.Tables[inText[next].Table].Start) < end; next++ {
			out = append(out, wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: c.document(&inText[next])})
		}
	}
	for _, literal := range c.x.Values.Literals {
		if literal.Kind == stmt.ParamLiteral {
			until(int(literal.Start))
			out = append(out, c.x.Params[literal.Param])
		}
	}
	until(math.MaxInt)
	return out
}

// document returns the rows of a carried table as JSON in ASCII.
func (c *carrying) document(carried *plan.Carried) []byte {
	out := []byte{'['}
	for n, row := range c.rows[carried.Table] {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, '[')
		for i, value := range row {
			if i > 0 {
				out = append(out, ',')
			}
			switch {
			case value == nil:
				out = append(out, "null"...)
			case carried.Columns[i].IsInteger():
				out = append(out, value...)
			default:
				out = appendJSON(out, value)
			}
		}
		out = append(out, ']')
	}
	return append(out, ']')
}

// appendJSON appends a text as a JSON string in ASCII.
func appendJSON(out, text []byte) []byte {
	out = append(out, '"')
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r <= 0xffff:
			out = appendUnit(out, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = appendUnit(appendUnit(out, high), low)
		}
	}
	return append(out, '"')
}

func appendUnit(out []byte, r rune) []byte {
	return append(out, `\u`+strconv.FormatInt(0x10000+int64(r), 16)[1:]...)
}
