package exec

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/gather"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

func integer(n uint64) wire.Param {
	return wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Value: binary.LittleEndian.AppendUint64(nil, n)}
}

func textual(s string) wire.Param {
	return wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(s)}
}

func TestLiteral(t *testing.T) {
	for _, c := range []struct {
		param wire.Param
		vars  sysvars.Values
		want  string
	}{
		{wire.Param{Type: mysql.MYSQL_TYPE_LONG}, sysvars.Values{}, "NULL"},
		{integer(math.MaxUint64), sysvars.Values{}, "-1"},
		{wire.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Flags: mysql.PARAM_UNSIGNED, Value: integer(math.MaxUint64).Value}, sysvars.Values{}, "18446744073709551615"},
		{wire.Param{Type: mysql.MYSQL_TYPE_FLOAT, Value: binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1))}, sysvars.Values{}, "1e-01"},
		{wire.Param{Type: mysql.MYSQL_TYPE_DOUBLE, Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1))}, sysvars.Values{}, "1e-01"},
		{wire.Param{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Value: []byte("-1.50")}, sysvars.Values{}, "-1.50"},
		{wire.Param{Type: mysql.MYSQL_TYPE_NEWDECIMAL, Value: []byte("1 OR 1")}, sysvars.Values{}, "'1 OR 1'"},
		{wire.Param{Type: mysql.MYSQL_TYPE_DATE, Value: []byte{0xe8, 0x07, 2, 29}}, sysvars.Values{}, "'2024-02-29'"},
		{wire.Param{Type: mysql.MYSQL_TYPE_BLOB, Value: []byte("a'b")}, sysvars.Values{}, "X'612762'"},
		{textual("\xff"), sysvars.Values{}, "X'ff'"},
		{textual("\xff"), sysvars.Values{Foreign: true}, "'\xff'"},
		{textual(`a'\b`), sysvars.Values{}, `'a''\\b'`},
		{textual(`a'\b`), sysvars.Values{Mode: stmt.NoBackslash}, `'a''\b'`},
	} {
		if got, err := literalOf(c.param, &c.vars); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v; want %q", c.param, got, err, c.want)
		}
	}
	if _, err := literalOf(wire.Param{Type: mysql.MYSQL_TYPE_DATE, Value: []byte{1}}, &sysvars.Values{}); !refused(err, mysql.ER_WRONG_ARGUMENTS) {
		t.Error(err)
	}
}

// TestGatherBound: parameters stay bound in the statement over the gathered rows. The shards get them as literals if these compare
// alike; otherwise they return all rows.
func TestGatherBound(t *testing.T) {
	for value, want := range map[*wire.Param]string{
		{Type: mysql.MYSQL_TYPE_LONGLONG, Value: integer(5).Value}: "WHERE (a.amount > 5\n)",
		{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte("5")}:    "",
		{Type: mysql.MYSQL_TYPE_LONGLONG}:                          "",
	} {
		s := newStand(t)
		a := s.request("SELECT a.amount, b.id FROM orders a JOIN orders b ON a.amount = b.id WHERE a.amount > ?", *value)
		s.filled()
		err := a.gatherAt(a.of(), "s2", plenty, func(g *gathering) error {
			if got := g.params(); len(got) != 1 || string(got[0].Value) != string(value.Value) {
				t.Errorf("bound are %+v", got)
			}
			return nil
		})
		read := "SELECT `a`.`id`, `a`.`amount` FROM `shop`.`orders` AS `a`"
		if want != "" {
			read += " " + want
		}
		if got := s.log.Statements("s0"); err != nil || len(got) < 2 || got[1] != read {
			t.Errorf("%q, %v; want %q", got, err, read)
		}
	}
}

// TestGatherGroupsBound: rows are gathered instead of groups if a parameter can't be a literal.
func TestGatherGroupsBound(t *testing.T) {
	for value, bound := range map[*wire.Param]int{
		{Type: mysql.MYSQL_TYPE_LONGLONG, Value: integer(5).Value}: 0,
		{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte("5")}:    1,
	} {
		s := newStand(t)
		a := s.request("SELECT amount, COUNT(*), SUM(buyer) FROM orders WHERE id > ? GROUP BY amount", *value)
		if bound == 0 {
			s.typed()
		} else {
			s.shards["s2"].Next(orders())
			for _, shard := range []router.ShardName{"s0", "s1"} {
				r := orders()
				r.Prefix = "SELECT "
				s.shards[shard].Next(r)
			}
		}
		if err := a.gatherAt(a.of(), "s2", gather.Limits{Rows: 10, Bytes: 1000}, func(g *gathering) error {
			if got := g.params(); len(got) != bound {
				t.Errorf("%+v: bound are %+v", value, got)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}
