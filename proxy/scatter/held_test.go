package scatter

import (
	"bytes"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/reply"
	"locus/proxy/stream"
	"locus/proxy/wire"
	"locus/router/plan"
)

// numbers returns an answer with one row for each number.
func numbers(list ...string) []byte {
	rows := make([][][]byte, len(list))
	for i, n := range list {
		rows[i] = [][]byte{[]byte(n)}
	}
	return result([]wire.Column{named(mysql.MYSQL_TYPE_LONGLONG, 0, 0)}, Text, rows, wire.EOF{Status: testStatus})
}

func sources(shards []*fakeShard) []source {
	list := make([]source, len(shards))
	for i, s := range shards {
		list[i] = s
	}
	return list
}

func TestHold(t *testing.T) {
	for name, c := range map[string]struct {
		first, second []byte
		sequence      []int
		most          int64
		want          string // the answer that the client gets, or the beginning of the error
	}{
		"in the order of the statement": {numbers("1", "3"), numbers("2"), []int{0, 1, 0}, 1 << 20, "1 2 3"},
		"one shard after the other":     {numbers("1", "3"), numbers("2"), nil, 1 << 20, "1 3 2"},
		"too few rows":                  {numbers("1"), numbers("2"), []int{0, 1, 0}, 1 << 20, "shard s0 has returned too few rows, so that row 3"},
		"too many rows":                 {numbers("1", "3"), numbers("2"), []int{0, 1}, 1 << 20, "shard s0 has returned more rows"},
		"an error after rows":           {numbers("1"), withError(numbers("2"), 1062), []int{0, 1, 1}, 1 << 20, "ERROR 1062"},
		"too large":                     {numbers("1", "3"), numbers("2"), []int{0, 1, 0}, 10, "locus-1105"},
	} {
		shards := []*fakeShard{newShard("s0", c.first, anyChunk, false), newShard("s1", c.second, anyChunk, false)}
		near, far := net.Pipe()
		client := &reply.Client{Stream: stream.New(near), Seq: 1, Capabilities: mysql.CLIENT_PROTOCOL_41}
		held, o, err := hold(sources(shards), c.sequence, Text, client, Options{Whole: true, MostHeld: c.most})
		closeAll(t, shards)
		if o.Sent || !slices.Equal(o.Clean, []bool{true, true}) {
			t.Errorf("%s: %+v", name, o)
		}
		if err != nil {
			if held != nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		sent := make(chan []byte, 1)
		go func() {
			var all []byte
			buffer := make([]byte, 1<<16)
			for {
				n, err := far.Read(buffer)
				all = append(all, buffer[:n]...)
				if err != nil {
					sent <- all
					return
				}
			}
		}()
		if err := held.Send(testStatus, 0); err != nil {
			t.Error(err)
		}
		_ = near.Close()
		packets := <-sent
		var rows []string
		for seq := byte(1); len(packets) > 0; seq++ {
			size := int(packets[0]) | int(packets[1])<<8 | int(packets[2])<<16
			payload := packets[4 : 4+size]
			if packets[3] != seq {
				t.Errorf("%s: packet %d has the number %d", name, seq, packets[3])
			}
			if value, n := wire.LenBytes(payload); seq > 3 && n == len(payload) && !bytes.HasPrefix(payload, []byte{0xfe}) {
				rows = append(rows, string(value))
			}
			if packets = packets[4+size:]; len(packets) == 0 && client.Seq != seq+1 {
				t.Errorf("%s: the next packet has the number %d after %d", name, client.Seq, seq)
			}
		}
		if got := strings.Join(rows, " "); got != c.want {
			t.Errorf("%s: the client is sent %q", name, got)
		}
	}
}

func TestCount(t *testing.T) {
	m := &plan.Merge{Kind: plan.Ordered, Keys: []plan.SortKey{{}}}
	for name, c := range map[string]struct {
		answers [][]byte
		limit   uint64
		fails   int // the connection on which the query can't be sent; -1: none
		want    []uint64
		sent    int
		clean   []bool
	}{
		"the first rows":    {[][]byte{numbers("1", "5", "6"), numbers("2", "3", "9"), numbers("7")}, 4, -1, []uint64{2, 2, 0}, 3, []bool{true, true, true}},
		"fewer than wanted": {[][]byte{numbers("1"), numbers(), numbers("7")}, 4, -1, []uint64{1, 0, 1}, 3, []bool{true, true, true}},
		"none":              {[][]byte{numbers(), numbers(), numbers()}, 4, -1, []uint64{0, 0, 0}, 3, []bool{true, true, true}},
		"not sent":          {[][]byte{numbers("1"), numbers("2"), numbers("3")}, 4, 1, []uint64{0, 0, 0}, 2, []bool{true, false, false}},
		"refused":           {[][]byte{numbers("1"), withError(numbers(), 1205), numbers("3")}, 4, -1, []uint64{0, 0, 0}, 2, []bool{true, true, false}},
	} {
		var shards []*fakeShard
		for i, answer := range c.answers {
			shards = append(shards, newShard("s"+string(rune('0'+i)), answer, anyChunk, false))
		}
		failed, sent := errors.New("not sent"), 0
		taken, o, err := count(sources(shards), m, plan.Window{Set: true, Count: c.limit}, Options{Whole: true}, func(i int) error {
			sent++
			if i == c.fails {
				return failed
			}
			return nil
		})
		closeAll(t, shards)
		if !slices.Equal(taken, c.want) || sent != c.sent || !slices.Equal(o.Clean, c.clean) || (err != nil) != (slices.Contains(o.Clean, false)) {
			t.Errorf("%s: %v, %d queries were sent, %+v, %v", name, taken, sent, o, err)
		}
	}
}
