package stream

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"locus/proxy/wire"
)

// The bytes are read as they were sent, whatever calls read them, in whatever order.
func TestBytesAreKept(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		rapid.Check(t, func(rt *rapid.T) {
			sent := numbered(rapid.SampledFrom([]int{10, 5000, 100_000, 300_000}).Draw(rt, "bytes"))
			near, far := kinds[kind](t)
			defer near.Close()
			c := New(near)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for rest := sent; len(rest) > 0; {
					n := min(len(rest), 1+len(rest)/7)
					if _, err := far.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
				}
				_ = far.Close()
			}()
			keep := rapid.SampledFrom([]int{0, 1, 26, 5000, 40_000}).Draw(rt, "bytes left unread")
			var got []byte
			for {
				if rapid.IntRange(0, 9).Draw(rt, "bulk") == 0 {
					c.Bulk()
				}
				err := c.Fill()
				if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					rt.Fatal(err)
				}
				n := max(0, len(c.Unread())-keep)
				if err != nil {
					n = len(c.Unread())
				}
				got = append(got, c.Unread()[:n]...)
				c.Discard(n)
				if err != nil {
					break
				}
			}
			<-done
			if !bytes.Equal(got, sent) {
				rt.Fatalf("%d bytes read, %d sent, or others", len(got), len(sent))
			}
		})
	})
}

func TestEndOfStream(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		c, far := connect(t, kind)
		go func() {
			_, _ = far.Write([]byte{9, 0, 0, 0, 'x'})
			_ = far.Close()
		}()
		if _, err := c.Packet(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("in the midst of a packet: %v", err)
		}
		c.Discard(len(c.Unread()))
		if _, err := c.Packet(); !errors.Is(err, io.EOF) {
			t.Errorf("between packets: %v", err)
		}
		if got := memory(c); got != 0 {
			t.Errorf("%d bytes held after the end", got)
		}
	})
}

func TestDiscardTooMuchPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(nil).Discard(1)
}

func TestWritePayload(t *testing.T) {
	for _, length := range []int{0, 5, wire.MaxPayload, wire.MaxPayload + 5} {
		c, far := connect(t, "tcp")
		payload := numbered(length)
		want, wantSeq := wire.AppendPacket(nil, 2, payload)
		got := make([]byte, len(want))
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(far, got)
			read <- err
		}()
		seq, err := c.WritePayload(2, payload)
		if err != nil || seq != wantSeq {
			t.Error(seq, err)
		}
		if err := <-read; err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived otherwise, %v", length, err)
		}
	}
}

// A command and its answer allocate nothing once the buffers exist.
func TestReadingAllocatesNothing(t *testing.T) {
	c, far := connect(t, "tcp")
	packet, _ := wire.AppendPacket(nil, 0, numbered(200))
	if n := testing.AllocsPerRun(200, func() {
		if _, err := far.Write(packet); err != nil {
			t.Error(err)
		}
		if _, err := c.Packet(); err != nil {
			t.Error(err)
		}
		c.Discard(len(packet))
	}); n > 0.5 { // the pool may be emptied by the garbage collector
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPacket(b *testing.B) {
	for _, kind := range []string{"tcp", "tls"} {
		b.Run(kind, func(b *testing.B) {
			near, far := kinds[kind](b)
			defer near.Close()
			defer far.Close()
			c := New(near)
			packet, _ := wire.AppendPacket(nil, 0, numbered(200))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = far.Write(packet)
				if _, err := c.Packet(); err != nil {
					b.Fatal(err)
				}
				c.Discard(len(packet))
			}
		})
	}
}
