package stream

import (
	"errors"
	"os"
	"testing"
	"time"
)

// idle makes c wait for bytes that don't come.
func idle(t *testing.T, c *Conn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
}

func memory(c *Conn) int {
	if c.block == nil {
		return 0
	}
	return len(c.block.b)
}

func TestIdleConnectionHoldsLittle(t *testing.T) {
	for kind := range kinds {
		c, far := connect(t, kind)
		send(t, far, make([]byte, 60_000))
		for read := 0; read < 60_000; {
			if err := c.Fill(); err != nil {
				t.Fatal(err)
			}
			read += len(c.Unread())
			c.Discard(len(c.Unread()))
		}
		c.more = false // the last read may have filled its buffer
		idle(t, c)
		if got := memory(c); got > 0 {
			t.Errorf("%s: %d bytes", kind, got)
		}
	}
}

// While a stream without TLS waits for its socket, its buffer is back in the pool.
func TestWaitingTakesNoBuffer(t *testing.T) {
	for _, kind := range []string{"tcp", "unix"} {
		c, far := connect(t, kind)
		send(t, far, []byte("x"))
		if err := c.Fill(); err != nil || memory(c) != normal {
			t.Fatal(memory(c), err)
		}
		c.Discard(1)
		var during []int
		c.poll.attempt = func(fd uintptr) bool {
			settled := c.poll.try(fd)
			if during = append(during, memory(c)); len(during) == 1 {
				send(t, far, []byte("y"))
			}
			return settled
		}
		if err := c.Fill(); err != nil || string(c.Unread()) != "y" {
			t.Fatal(err)
		}
		if during[0] != 0 || during[len(during)-1] != normal {
			t.Errorf("%s: %d bytes after each attempt to read", kind, during)
		}
	}
}

func TestReleaseKeepsWhatIsUnread(t *testing.T) {
	c, far := connect(t, "tcp")
	send(t, far, []byte("xy"))
	for len(c.Unread()) < 2 {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	c.Release()
	if string(c.Unread()) != "xy" {
		t.Errorf("%q is left", c.Unread())
	}
	c.Discard(2)
	c.Release()
	if got := memory(c); got != 0 || len(c.Unread()) != 0 {
		t.Errorf("%d bytes held", got)
	}
}

// A header may announce 16 MB. The buffer grows only with the bytes that arrive.
func TestMemoryFollowsWhatArrives(t *testing.T) {
	c, far := connect(t, "pipe")
	send(t, far, []byte{0xfe, 0xff, 0xff, 0}, make([]byte, 50_000))
	for len(c.Unread()) < 50_000 {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
	}
	if got := memory(c); got > 128<<10 {
		t.Errorf("%d bytes for 50,000", got)
	}
	if len(c.Unread()) != 50_004 {
		t.Error(len(c.Unread()))
	}
}

func TestBuffersGrowWithTheReads(t *testing.T) {
	c, far := connect(t, "tcp")
	total := 4 << 20
	send(t, far, make([]byte, total))
	largest := 0
	for read := 0; read < total; {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, memory(c))
		n := len(c.Unread())
		read += n
		c.Discard(n)
	}
	if largest != bulk {
		t.Errorf("largest buffer %d, want %d", largest, bulk)
	}
	c, far = connect(t, "tcp")
	c.Bulk()
	send(t, far, []byte("little"))
	if err := c.Fill(); err != nil || memory(c) != bulk {
		t.Errorf("after Bulk: %d, %v", memory(c), err)
	}
	c.Discard(len(c.Unread()))
	send(t, far, []byte("more"))
	if err := c.Fill(); err != nil || memory(c) != normal {
		t.Errorf("after little came: %d, %v", memory(c), err)
	}
}

// If the beginning of a packet is left unread while the bytes before it are forwarded, the buffer doesn't grow.
func TestBufferStaysWhenLittleIsLeftUnread(t *testing.T) {
	c, far := connect(t, "tcp")
	total := 4 << 20
	send(t, far, make([]byte, total))
	for read := 0; read < total-20; {
		if err := c.Fill(); err != nil {
			t.Fatal(err)
		}
		if got := memory(c); got > bulk {
			t.Fatalf("%d bytes", got)
		}
		n := len(c.Unread()) - 20
		read += n
		c.Discard(n)
	}
}

// A read isn't limited to the few bytes that are free at the end of the buffer.
func TestReadsAreWorthwhile(t *testing.T) {
	c, far := connect(t, "pipe")
	send(t, far, make([]byte, waiting-10), make([]byte, 1000))
	if err := c.Fill(); err != nil {
		t.Fatal(err)
	}
	c.Discard(waiting - 20)
	if err := c.Fill(); err != nil || len(c.Unread()) != 1010 {
		t.Errorf("%d bytes unread, %v", len(c.Unread()), err)
	}
}
