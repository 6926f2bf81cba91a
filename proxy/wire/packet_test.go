package wire

import (
	"bytes"
	"testing"
)

func TestAppendPacketSplitsLongPayloads(t *testing.T) {
	for _, c := range []struct {
		payload int
		lengths []int
	}{
		{0, []int{0}},
		{1, []int{1}},
		{MaxPayload - 1, []int{MaxPayload - 1}},
		{MaxPayload, []int{MaxPayload, 0}},
		{MaxPayload + 1, []int{MaxPayload, 1}},
		{2*MaxPayload + 7, []int{MaxPayload, MaxPayload, 7}},
	} {
		payload := make([]byte, c.payload)
		for i := range payload {
			payload[i] = byte(i * 7)
		}
		prefix := []byte("before")
		appended, next := AppendPacket(prefix, 254, payload)
		if want := byte(254 + len(c.lengths)); next != want {
			t.Errorf("%d bytes: next sequence number %d, want %d", c.payload, next, want)
		}
		checkPackets(t, appended[len(prefix):], 254, c.lengths, payload)

		start := len(prefix)
		finished, next2 := Finish(append(Begin(bytes.Clone(prefix)), payload...), start, 254)
		if next2 != next || !bytes.Equal(finished, appended) {
			t.Errorf("%d bytes: Finish differs from AppendPacket", c.payload)
		}
	}
}

func checkPackets(t *testing.T, b []byte, seq byte, lengths []int, payload []byte) {
	t.Helper()
	for _, want := range lengths {
		length, got := Header(b)
		if length != want || got != seq {
			t.Fatalf("packet of %d bytes numbered %d, want %d numbered %d", length, got, want, seq)
		}
		if !bytes.Equal(b[HeaderSize:HeaderSize+length], payload[:length]) {
			t.Fatal("the payload was changed")
		}
		b, payload = b[HeaderSize+length:], payload[length:]
		seq++
	}
	if len(b) > 0 {
		t.Fatalf("%d bytes too many", len(b))
	}
}
