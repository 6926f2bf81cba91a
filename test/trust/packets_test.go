package trust

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// exchange is a list of statements whose answers are compared packet by packet: the definitions of columns, the bytes of rows, and
// errors with their messages.
type exchange struct {
	name   string
	user   string   // empty: app
	setup  []string // app runs them on both sides; they succeed
	before []string // the session runs them first; they succeed
	say    []string
	args   []string // binds texts to the placeholders of every statement that has one; the statements are prepared in any case
	after  []string // app runs them on both sides; they may fail
	ready  bool     // prepares the statements
	sorted bool     // compares rows in any order
	// values compares names of columns and rows, and not the other fields of the definitions.
	values bool
	on     string // the only engine on which the exchange runs; empty: both
}

// exchanged compares the packets of both sides.
func (s *stand) exchanged(t *testing.T, list ...exchange) {
	t.Helper()
	for _, x := range list {
		if x.on != "" && x.on != string(s.engine) {
			continue
		}
		t.Run(strings.ReplaceAll(x.name, "/", "|"), func(t *testing.T) { s.exchangedOne(t, &x) })
	}
}

func (s *stand) exchangedOne(t *testing.T, x *exchange) {
	defer func() {
		for _, text := range x.after {
			s.app.say(text)
			s.plain.say(text)
		}
	}()
	for _, text := range x.setup {
		s.app.must(t, text)
		s.plain.must(t, text)
	}
	proxy, plain := s.proxied(t, cmp.Or(x.user, "app")), s.direct(t, cmp.Or(x.user, "app"))
	defer proxy.Close()
	defer plain.Close()
	for _, text := range x.before {
		for _, side := range []*session{proxy, plain} {
			if got := side.packets(t, x, text, false); strings.HasPrefix(got[len(got)-1], "error") {
				t.Fatalf("%s: %s: %q", side.who, text, got)
			}
		}
	}
	for _, text := range x.say {
		got, want := proxy.packets(t, x, text, x.ready), plain.packets(t, x, text, x.ready)
		if !slices.Equal(got, want) {
			here, there := without(got, want), without(want, got)
			if len(here)+len(there) == 0 { // in another order
				here, there = got, want
			}
			t.Errorf("%s: %q:\n  proxy: %s\n  plain: %s", s.engine, text, strings.Join(here, "\n         "), strings.Join(there, "\n         "))
		}
	}
}

// packets returns a description of each packet of an answer.
func (s *session) packets(t *testing.T, x *exchange, text string, ready bool) []string {
	t.Helper()
	if !ready {
		s.command(t, mysql.COM_QUERY, []byte(text))
		return s.described(t, x)
	}
	s.command(t, mysql.COM_STMT_PREPARE, []byte(text))
	head := s.packet(t)
	if head[0] != mysql.OK_HEADER {
		return []string{failure(head)}
	}
	id, columns, params := binary.LittleEndian.Uint32(head[1:]), binary.LittleEndian.Uint16(head[5:]), binary.LittleEndian.Uint16(head[7:])
	var out []string
	for _, n := range []uint16{params, columns} {
		for i := range n {
			d := s.packet(t)
			if i < n && n == columns && !x.values {
				out = append(out, "prepared "+definition(t, d))
			}
		}
		if n > 0 {
			s.packet(t)
		}
	}
	if params == columns { // not distinguished above
		out = nil
	}
	var bound []wire.Param
	for i := range int(params) {
		bound = append(bound, wire.Param{Type: mysql.MYSQL_TYPE_VAR_STRING, Value: []byte(x.args[i])})
	}
	execute, _ := wire.AppendExecute(nil, wire.Execute{Statement: id, Params: bound})
	s.ResetSequence()
	if err := s.WritePacket(append([]byte(nil), execute...)); err != nil {
		t.Fatal(err)
	}
	out = append(out, s.described(t, x)...)
	s.command(t, mysql.COM_STMT_CLOSE, binary.LittleEndian.AppendUint32(nil, id))
	return out
}

func (s *session) command(t *testing.T, code byte, payload []byte) {
	t.Helper()
	s.ResetSequence()
	if err := s.WritePacket(append(append(make([]byte, 4), code), payload...)); err != nil {
		t.Fatalf("%s: %v", s.who, err)
	}
}

func (s *session) packet(t *testing.T) []byte {
	t.Helper()
	p, err := s.ReadPacket()
	if err != nil {
		t.Fatalf("%s: %v", s.who, err)
	}
	return p
}

func (s *session) described(t *testing.T, x *exchange) (out []string) {
	t.Helper()
	head := s.packet(t)
	switch head[0] {
	case mysql.ERR_HEADER:
		return []string{failure(head)}
	case mysql.OK_HEADER:
		ok, err := wire.ParseOK(head, mysql.CLIENT_PROTOCOL_41)
		if err != nil {
			t.Fatal(err)
		}
		return []string{fmt.Sprintf("ok, %d rows affected, %d warnings, %q", ok.AffectedRows, ok.Warnings, ok.Info)}
	}
	for n, _ := wire.LenInt(head); n > 0; n-- {
		d := s.packet(t)
		if out = append(out, definition(t, d)); x.values {
			c, _ := wire.ParseColumn(d)
			out[len(out)-1] = fmt.Sprintf("column %q", c.Name)
		}
	}
	s.packet(t)
	first := len(out)
	for {
		p := s.packet(t)
		switch {
		case wire.IsEOF(p):
			if x.sorted {
				slices.Sort(out[first:])
			}
			end, err := wire.ParseEOF(p)
			if err != nil {
				t.Fatal(err)
			}
			return append(out, fmt.Sprintf("end, %d warnings", end.Warnings))
		case wire.IsERR(p):
			return []string{failure(p)} // servers differ in the packets before it
		}
		out = append(out, fmt.Sprintf("row %q", p))
	}
}

func failure(p []byte) string {
	e, err := wire.ParseERR(p)
	if err != nil {
		return fmt.Sprintf("error %q", p)
	}
	return fmt.Sprintf("error %d %s %q", e.Code, e.State, e.Message)
}

func definition(t *testing.T, p []byte) string {
	t.Helper()
	c, err := wire.ParseColumn(p)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("column %q %q %q %q %q charset %d length %d type %d flags %d decimals %d", c.Schema, c.Table, c.OrgTable, c.Name, c.OrgName, c.Charset, c.Length, c.Type, c.Flags, c.Decimals)
}
