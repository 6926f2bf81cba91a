package scatter

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router/plan"
)

var textColumn = wire.Column{Name: []byte("t"), Type: mysql.MYSQL_TYPE_VAR_STRING, Charset: 255}

// texts returns an answer of n rows of the given size.
func texts(n, size int) []byte {
	rows := make([][][]byte, n)
	for i := range rows {
		rows[i] = [][]byte{bytes.Repeat([]byte{'x'}, size)}
	}
	return result([]wire.Column{textColumn}, Text, rows, wire.EOF{Status: testStatus})
}

// withError puts an error in the place of the final EOF.
func withError(answer []byte, code uint16) []byte {
	at := len(answer) - 9
	_, seq := wire.Header(answer[at:])
	out, _ := wire.AppendERR(answer[:at:at], seq, &mysql.MyError{Code: code, State: "HY000", Message: "no"}, mysql.CLIENT_PROTOCOL_41)
	return out
}

func errorAnswer(code uint16) []byte {
	out, _ := wire.AppendERR(nil, 1, &mysql.MyError{Code: code, State: "HY000", Message: "no"}, mysql.CLIENT_PROTOCOL_41)
	return out
}

var anyChunk = []int{1000}

func code(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return e.Code
	}
	return 0
}

// Errors before anything was sent leave every connection usable and the client
// without a byte.
func TestEarlyErrors(t *testing.T) {
	for name, answers := range map[string][][]byte{
		"of the first":              {errorAnswer(1054), texts(3, 10)},
		"of the last":               {texts(3, 10), errorAnswer(1054)},
		"of both":                   {errorAnswer(1054), errorAnswer(1055)},
		"in place of the first row": {texts(3, 10), withError(texts(0, 0), 1054)},
		"behind a few rows":         {withError(texts(3, 10), 1054), texts(3, 10)},
		"behind rows of the last":   {texts(3, 10), withError(texts(3, 10), 1054)},
	} {
		shards := []*fakeShard{newShard("s0", answers[0], anyChunk, false), newShard("s1", answers[1], anyChunk, false)}
		got, o, err := run(shards, &plan.Merge{}, Text, plan.Window{}, 0)
		closeAll(t, shards)
		if code(err) != 1054 || o.Sent || o.Err != nil || len(got.columns) > 0 || !slices.Equal(o.Clean, []bool{true, true}) {
			t.Errorf("%s: %v, %+v", name, err, o)
		}
	}
}

// An error that arrives after rows were sent to the client follows those rows in the client's answer.
func TestLateError(t *testing.T) {
	shards := []*fakeShard{newShard("s0", withError(texts(5000, 100), 1317), anyChunk, false), newShard("s1", texts(3, 10), anyChunk, false)}
	got, o, err := run(shards, &plan.Merge{}, Text, plan.Window{}, mysql.CLIENT_PROTOCOL_41)
	closeAll(t, shards)
	if err != nil || !o.Sent || o.Err == nil || o.Err.Code != 1317 || !slices.Equal(o.Clean, []bool{true, true}) {
		t.Errorf("%v, %+v", err, o)
	}
	if got.err == nil || got.err.Code != 1317 || got.err.State != "HY000" || len(got.rows) != 5000 {
		t.Errorf("the client got %d rows and %v", len(got.rows), got.err)
	}
}

func TestLostShard(t *testing.T) {
	long, short := texts(5000, 100), texts(3, 10)
	for name, c := range map[string]struct {
		first, second []byte
		sent          bool
		clean         []bool
	}{
		"before its head":    {nil, short, false, []bool{false, true}},
		"in its head":        {short, short[:20], false, []bool{true, false}},
		"in its first row":   {short, short[:len(short)-35], false, []bool{true, false}},
		"before the last":    {short[:len(short)-9], short, false, []bool{false, true}},
		"amid many rows":     {long[:len(long)/2], short, true, []bool{false, true}},
		"with garbage":       {[]byte{1, 0, 0, 1, 0xfb}, short, false, []bool{false, true}},
		"with OK for a head": {[]byte{7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, short, false, []bool{false, true}},
	} {
		shards := []*fakeShard{newShard("s0", c.first, anyChunk, true), newShard("s1", c.second, anyChunk, true)}
		_, o, err := run(shards, &plan.Merge{}, Text, plan.Window{}, 0)
		closeAll(t, shards)
		lost, ok := errors.AsType[*backend.LostError](err)
		if !ok || !lost.Sent || o.Sent != c.sent || !slices.Equal(o.Clean, c.clean) {
			t.Errorf("%s: %v, %+v", name, err, o)
		}
		for i, s := range shards {
			if s.lost == c.clean[i] {
				t.Errorf("%s: s%d: Lost was called: %t", name, i, s.lost)
			}
		}
	}
}

// When a LIMIT is reached, the merge reads the rest of a short answer to keep the connection, but not of a long
// one.
func TestLimitStops(t *testing.T) {
	for name, m := range map[string]*plan.Merge{
		"concat":  {},
		"ordered": {Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 0, Weighted: true}}},
	} {
		shards := []*fakeShard{newShard("s0", texts(5, 10), anyChunk, false), newShard("s1", texts(600, 100), anyChunk, false), newShard("s2", texts(5000, 100), anyChunk, false)}
		got, o, err := run(shards, m, Text, plan.Window{Offset: 1, Count: 2, Set: true}, 0)
		if err != nil || got.cut != nil || len(got.rows) != 2 || !slices.Equal(o.Clean, []bool{true, true, false}) {
			t.Errorf("%s: %v, %v, %d rows, %+v", name, err, got.cut, len(got.rows), o)
		}
		shards[0].close()
		shards[1].close()
		if n := shards[2].close(); n > drainBudget+150<<10 {
			t.Errorf("%s: %d bytes were read for nothing", name, n)
		}
	}
}

// An error among the rows that a LIMIT leaves out is the statement's all the
// same: the shard may have rolled its transaction back.
func TestErrorBehindLimit(t *testing.T) {
	shards := []*fakeShard{newShard("s0", texts(5, 10), anyChunk, false), newShard("s1", withError(texts(5, 10), 1213), anyChunk, false)}
	_, o, err := run(shards, &plan.Merge{}, Text, plan.Window{Offset: 0, Count: 2, Set: true}, 0)
	closeAll(t, shards)
	if code(err) != 1213 || o.Sent || !slices.Equal(o.Clean, []bool{true, true}) {
		t.Errorf("%v, %+v", err, o)
	}
}

func TestClientGone(t *testing.T) {
	near, far := net.Pipe()
	_ = far.Close()
	shards := []*fakeShard{newShard("s0", texts(5000, 100), anyChunk, false), newShard("s1", texts(3, 10), anyChunk, false)}
	o, err := merge([]source{shards[0], shards[1]}, &plan.Merge{}, Text, plan.Window{}, &reply.Client{Stream: stream.New(near)}, Options{})
	closeAll(t, shards)
	if _, ok := errors.AsType[*ClientError](err); !ok || !o.Sent || !slices.Equal(o.Clean, []bool{false, false}) {
		t.Errorf("%v, %+v", err, o)
	}
}

func TestRefusals(t *testing.T) {
	number := func(typ byte, flags uint16) []byte {
		return result([]wire.Column{named(typ, flags, 0)}, Text, [][][]byte{{[]byte("1")}}, wire.EOF{})
	}
	text := texts(1, 1)
	ordered := &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{}}}
	for name, c := range map[string]struct {
		first, second []byte
		m             *plan.Merge
	}{
		"other types":            {number(mysql.MYSQL_TYPE_LONG, 0), number(mysql.MYSQL_TYPE_LONGLONG, 0), &plan.Merge{}},
		"other signs":            {number(mysql.MYSQL_TYPE_LONG, 0), number(mysql.MYSQL_TYPE_LONG, mysql.UNSIGNED_FLAG), &plan.Merge{}},
		"more columns":           {text, result([]wire.Column{textColumn, textColumn}, Text, nil, wire.EOF{}), &plan.Merge{}},
		"text as a sort key":     {text, text, ordered},
		"FLOAT as a sort key":    {number(mysql.MYSQL_TYPE_FLOAT, 0), number(mysql.MYSQL_TYPE_FLOAT, 0), ordered},
		"JSON as a sort key":     {number(mysql.MYSQL_TYPE_JSON, 0), number(mysql.MYSQL_TYPE_JSON, 0), ordered},
		"MAX of text":            {text, text, &plan.Merge{Kind: plan.Aggregated, Fields: []plan.Combined{{Function: 4}}}},
		"COUNT of text":          {text, text, &plan.Merge{Kind: plan.Aggregated, Fields: []plan.Combined{{Function: 1}}}},
		"SUM of text":            {text, text, &plan.Merge{Kind: plan.Aggregated, Fields: []plan.Combined{{Function: 2}}}},
		"AVG without its parts":  {text, text, &plan.Merge{Kind: plan.Aggregated, Fields: []plan.Combined{{Function: 5}}}},
		"more fields":            {text, text, &plan.Merge{Kind: plan.Aggregated, Fields: make([]plan.Combined, 2)}},
		"nothing but hidden":     {text, text, &plan.Merge{Hidden: 1}},
		"a key beyond the row":   {text, text, &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 1}}}},
		"a key before the row":   {text, text, &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: -2}}}},
		"a hidden key not there": {text, text, &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Hidden: true}}}},
	} {
		shards := []*fakeShard{newShard("s0", c.first, anyChunk, false), newShard("s1", c.second, anyChunk, false)}
		_, o, err := run(shards, c.m, Text, plan.Window{}, 0)
		closeAll(t, shards)
		if _, ok := errors.AsType[*plan.Refusal](err); !ok || o.Sent || !slices.Equal(o.Clean, []bool{true, true}) {
			t.Errorf("%s: %v, %+v", name, err, o)
		}
	}
}

// A client that doesn't read stops the shards, whatever they have to send.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		answer := texts(40000, 100)
		shards := []*fakeShard{newShard("s0", answer, []int{1 << 20}, false), newShard("s1", answer, []int{512}, false)}
		done := make(chan error, 1)
		go func() {
			m := &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 0, Weighted: true}}}
			_, err := merge([]source{shards[0], shards[1]}, m, Text, plan.Window{}, &reply.Client{Stream: stream.New(near), Seq: 1}, Options{})
			_ = near.Close()
			done <- err
		}()
		synctest.Wait()
		closeAll(t, shards[1:]) // shows how much was sent
		got := receive(far, Text, 0)
		if len(got.rows) == 80000 {
			t.Error("a shard was read to its end while the client didn't read")
		}
		_ = far.Close()
		<-done
		closeAll(t, shards[:1])
	})
}

// Rows longer than a packet, and than the client's buffer.
func TestLongRows(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		m := &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 0, Weighted: true}}}
		columns := []wire.Column{textColumn}
		if hidden {
			m.Hidden, m.Keys[0].Hidden = 1, true
			columns = append(columns, textColumn)
		}
		for _, f := range []Format{Text, Binary} {
			var shards []*fakeShard
			for i := range 2 {
				row := [][]byte{bytes.Repeat([]byte{byte('a' + i)}, 17<<20), []byte("k")}[:len(columns)]
				if hidden {
					row[1] = []byte{byte('1' - i)}
				}
				shards = append(shards, newShard("s", result(columns, f, [][][]byte{row}, wire.EOF{}), []int{1 << 20}, false))
			}
			got, _, err := run(shards, m, f, plan.Window{}, 0)
			closeAll(t, shards)
			if err != nil || got.cut != nil || len(got.rows) != 2 {
				t.Fatalf("%v, %v, %d rows", err, got.cut, len(got.rows))
			}
			for i, row := range got.rows {
				which := byte('a' + i)
				if hidden {
					which = byte('b' - i)
				}
				if len(row) != 1 || len(row[0]) != 1+17<<20 || row[0][1] != which {
					t.Errorf("row %d: %d values, %d bytes", i, len(row), len(row[0]))
				}
			}
		}
	}
}
