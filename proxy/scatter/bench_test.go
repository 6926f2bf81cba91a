package scatter

import (
	"bytes"
	"fmt"
	"net"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/reply"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router/plan"
)

// memory is a connection with a stored answer. It discards all writes.
type memory struct {
	net.Conn
	*bytes.Reader
}

func (m memory) Read(b []byte) (int, error)  { return m.Reader.Read(b) }
func (m memory) Write(b []byte) (int, error) { return len(b), nil }

// BenchmarkMerge measures merging by itself: no network, three shards.
func BenchmarkMerge(b *testing.B) {
	const shards, rows = 3, 10000
	columns := []wire.Column{
		named(mysql.MYSQL_TYPE_LONGLONG, 0, 0), named(mysql.MYSQL_TYPE_NEWDECIMAL, 0, 2), textColumn, named(mysql.MYSQL_TYPE_VAR_STRING, mysql.BINARY_FLAG, 0),
	}
	for name, c := range map[string]struct {
		m      *plan.Merge
		format Format
	}{
		"concat":                   {&plan.Merge{}, Text},
		"ordered by integer":       {&plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 0}}}, Text},
		"ordered by decimal":       {&plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{Column: 1}}}, Text},
		"ordered by hidden":        {&plan.Merge{Kind: plan.Ordered, Hidden: 1, Keys: []plan.SortKey{{Hidden: true, Weighted: true}}}, Text},
		"ordered by hidden,binary": {&plan.Merge{Kind: plan.Ordered, Hidden: 1, Keys: []plan.SortKey{{Hidden: true, Weighted: true}}}, Binary},
	} {
		b.Run(name, func(b *testing.B) {
			answers := make([][]byte, shards)
			size := 0
			for s := range answers {
				var values [][][]byte
				for i := range rows {
					n := i*shards + s
					first := fmt.Append(nil, n)
					if c.format == Binary {
						first = fixed(8)(value{i: int64(n)})
					}
					values = append(values, [][]byte{first, fmt.Appendf(nil, "%d.50", n), bytes.Repeat([]byte("x"), 80), fmt.Appendf(nil, "%08d", n)})
				}
				answers[s] = result(columns, c.format, values, wire.EOF{})
				size += len(answers[s])
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				sources := make([]source, shards)
				for i, answer := range answers {
					sources[i] = &fakeShard{name: "s", stream: stream.New(memory{Reader: bytes.NewReader(answer)})}
				}
				if _, err := merge(sources, c.m, c.format, plan.Window{}, &reply.Client{Stream: stream.New(memory{}), Seq: 1}, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
