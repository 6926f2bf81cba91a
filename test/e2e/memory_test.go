package e2e

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	protocol "github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

// memoryBudget is the limit for all sessions. memoryTries is the number of pieces that each way tries to make the
// proxy keep. memorySlack allows for the buffers of connections, for plans and for the test itself.
var (
	memoryBudget = scale.Of[int64](8<<20, 16<<20)
	memoryTries  = 10 * int(memoryBudget) / memoryPiece
)

const (
	memoryPiece = 256 << 10
	memorySlack = 32 << 20
	hoarders    = 4
)

// hoard is one way to make a proxy keep what a client sends. Each call sends another piece; an error ends it for that
// client.
type hoard struct {
	name string
	send func(c *protocol.Conn, n int, piece string) error
}

var hoards = []hoard{
	{"prepared statements", func(c *protocol.Conn, n int, piece string) error {
		_, err := c.Prepare(fmt.Sprintf("SELECT %d, ?, LENGTH('%s')", n, piece))
		return err
	}},
	{"texts of PREPARE", func(c *protocol.Conn, n int, piece string) error {
		_, err := c.Execute(fmt.Sprintf("PREPARE p%d FROM \"SELECT LENGTH('%s')\"", n, piece))
		return err
	}},
	{"SET", func(c *protocol.Conn, n int, piece string) error {
		_, err := c.Execute(fmt.Sprintf("SET @v%d = '%d%s'", n, n, piece))
		return err
	}},
	{"SELECT INTO", func(c *protocol.Conn, n int, piece string) error {
		_, err := c.Execute(fmt.Sprintf("SELECT CONCAT(%d, REPEAT('x', %d)) INTO @v%d", n, len(piece), n))
		return err
	}},
	{"assignments", func(c *protocol.Conn, n int, piece string) error {
		_, err := c.Execute(fmt.Sprintf("SELECT LENGTH(@v%d := CONCAT(%d, REPEAT('x', %d)))", n, n, len(piece)))
		return err
	}},
	{"pieces of parameters", func(c *protocol.Conn, n int, piece string) error {
		s, err := c.Prepare(fmt.Sprintf("SELECT %d, LENGTH(?)", n%100))
		if err != nil {
			return err
		}
		data := append(make([]byte, 4), mysql.COM_STMT_SEND_LONG_DATA)
		data = binary.LittleEndian.AppendUint32(data, s.ID)
		data = append(append(data, 0, 0), piece...)
		c.ResetSequence()
		return c.WritePacket(data)
	}},
	{"readings of statements", func(c *protocol.Conn, n int, piece string) error {
		if _, err := c.Execute(fmt.Sprintf("SET @v = '%d%s'", n, piece)); err != nil {
			return err
		}
		_, err := c.Execute(fmt.Sprintf("PREPARE p%d FROM 'SELECT %d'", n, n))
		return err
	}},
	{"savepoints", func(c *protocol.Conn, n int, _ string) error {
		if n == 0 {
			if _, err := c.Execute("BEGIN"); err != nil {
				return err
			}
		}
		for i := range 64 {
			if _, err := c.Execute(fmt.Sprintf("SAVEPOINT `s%d_%d%s`", n, i, strings.Repeat("x", 900))); err != nil {
				return err
			}
		}
		return nil
	}},
}

// Whatever clients try to make a proxy keep is refused above its budget. Other clients are served as usual, and all
// memory is released with the sessions.
func TestWhatSessionsKeepIsBounded(t *testing.T) {
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) { o.SessionMemory, o.MaxStatement = memoryBudget, 4<<20 }})
	memory := s.Proxy.Status().Memory
	login := func() *protocol.Conn {
		c, err := protocol.Connect(s.Addr, shop.User, shop.Password, s.Schema)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	other := login()
	defer func() { _ = other.Close() }()
	if _, err := other.Execute("SET @mine = 'kept'"); err != nil {
		t.Fatal(err)
	}
	small, before := memory.Held(), heap()
	piece := strings.Repeat("x", memoryPiece)
	for _, h := range hoards {
		t.Run(h.name, func(t *testing.T) {
			var all []*protocol.Conn
			refused := 0
			for range hoarders {
				c := login()
				all = append(all, c)
				for n := range memoryTries / hoarders {
					err := h.send(c, n, piece)
					if err == nil {
						continue
					}
					if e := (*mysql.MyError)(nil); errors.As(err, &e) && !strings.Contains(e.Message, "locus-1009") && e.Code != mysql.ER_MAX_PREPARED_STMT_COUNT_REACHED {
						t.Fatal(err)
					}
					refused++
					break
				}
			}
			if refused == 0 && h.name != "pieces of parameters" && h.name != "readings of statements" {
				t.Error("nothing was refused")
			}
			if held := memory.Held(); held > memoryBudget {
				t.Errorf("%d MiB are counted", held>>20)
			}
			if grown := heap() - before; grown > memoryBudget+memorySlack {
				t.Errorf("the heap has grown by %d MiB, and the budget is %d", grown>>20, memoryBudget>>20)
			}
			if r, err := other.Execute("SELECT @mine, COUNT(*) FROM test_order WHERE buyer_uid = 7"); err != nil {
				t.Errorf("another client: %v", err)
			} else if kept, _ := r.GetString(0, 0); kept != "kept" {
				t.Errorf("another client's variable is %q", kept)
			}
			for _, c := range all {
				_ = c.Close()
			}
			until(t, "what the sessions kept is given back", func() bool { return memory.Held() == small && heap()-before < memorySlack })
		})
	}
}

// heap returns the size of the live heap.
func heap() int64 {
	var m runtime.MemStats
	for range 3 { // objects with a cleanup are collected in the next round
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
