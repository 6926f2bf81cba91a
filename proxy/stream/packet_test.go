package stream

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"locus/proxy/wire"
)

func TestPacketIsAViewAndStays(t *testing.T) {
	forEachKind(t, func(t *testing.T, kind string) {
		c, far := connect(t, kind)
		payload := numbered(70_000)
		packet, _ := wire.AppendPacket(nil, 3, payload)
		send(t, far, packet[:2], packet[2:100], packet[100:], []byte{0, 0, 0, 4})
		for range 2 {
			got, err := c.Packet()
			if err != nil || !bytes.Equal(got, packet) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(packet), err)
			}
		}
		c.Discard(len(packet))
		if got, err := c.Packet(); err != nil || !bytes.Equal(got, []byte{0, 0, 0, 4}) {
			t.Errorf("empty packet: % x, %v", got, err)
		}
	})
}

func TestPayloadJoinsPackets(t *testing.T) {
	for _, length := range []int{0, 1, 30_000, wire.MaxPayload - 1, wire.MaxPayload, 2*wire.MaxPayload + 5} {
		c, far := connect(t, "tcp")
		payload := numbered(length)
		packets, next := wire.AppendPacket(nil, 7, payload)
		send(t, far, packets, []byte{1, 0, 0, 0, 'x'})
		got, seq, err := c.Payload()
		if err != nil || seq != next-1 || !bytes.Equal(got, payload) {
			t.Fatalf("%d bytes: %d, last number %d, %v", length, len(got), seq, err)
		}
		c.Done()
		if got, seq, err = c.Payload(); err != nil || string(got) != "x" || seq != 0 {
			t.Errorf("after %d bytes: %q, number %d, %v", length, got, seq, err)
		}
	}
}

func TestPayloadOfPacketsOutOfOrder(t *testing.T) {
	c, far := connect(t, "tcp")
	packets, _ := wire.AppendPacket(nil, 0, make([]byte, wire.MaxPayload+10))
	packets[wire.HeaderSize+wire.MaxPayload+3] = 5
	send(t, far, packets)
	if _, _, err := c.Payload(); !errors.Is(err, ErrOutOfOrder) {
		t.Error(err)
	}
}

func TestLimit(t *testing.T) {
	fits, _ := wire.AppendPacket(nil, 0, numbered(20_000))
	exceeds, _ := wire.AppendPacket(nil, 0, numbered(20_001))
	for name, read := range map[string]func(*Conn) error{
		"Packet":  func(c *Conn) error { _, err := c.Packet(); return err },
		"Payload": func(c *Conn) error { _, _, err := c.Payload(); return err },
	} {
		c, far := connect(t, "tcp")
		c.SetLimit(20_000)
		send(t, far, fits, exceeds)
		if err := read(c); err != nil {
			t.Errorf("%s at the limit: %v", name, err)
		}
		c.Discard(len(fits))
		c.taken = 0
		if err := read(c); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "limit 20000") {
			t.Errorf("%s beyond the limit: %v", name, err)
		}
	}
	t.Run("joined", func(t *testing.T) {
		c, far := connect(t, "tcp")
		c.SetLimit(wire.MaxPayload + 9)
		packets, _ := wire.AppendPacket(nil, 0, make([]byte, wire.MaxPayload+10))
		send(t, far, packets)
		if _, _, err := c.Payload(); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
	t.Run("Fill", func(t *testing.T) {
		c, far := connect(t, "tcp")
		c.SetLimit(300_000)
		send(t, far, make([]byte, 1<<20))
		var err error
		for err == nil {
			err = c.Fill()
		}
		if unread := len(c.Unread()); !errors.Is(err, ErrTooLarge) || unread < 300_000 || unread > 600_000 {
			t.Errorf("%d bytes unread, %v", unread, err)
		}
	})
}
