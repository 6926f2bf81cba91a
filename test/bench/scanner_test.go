package main

import (
	"bytes"
	"strings"
	"testing"
)

// packets frames payloads, numbered from 1 on as an answer's are.
func packets(payloads ...string) []byte {
	var b []byte
	for i, p := range payloads {
		b = append(b, byte(len(p)), byte(len(p)>>8), byte(len(p)>>16), byte(i+1))
		b = append(b, p...)
	}
	return b
}

const (
	okPacket  = "\x00\x01\x00\x02\x00\x00\x00"
	eofPacket = "\xfe\x00\x00\x02\x00"
	okAsEOF   = "\xfe\x00\x00\x02\x00\x00\x00"
	moreEOF   = "\xfe\x00\x00\x0a\x00"
	column    = "\x03def and so on"
	errPacket = "\xff\x28\x04#42000no such thing"
)

func scan(t *testing.T, deprecateEOF bool, pieces ...[]byte) (answer, error) {
	t.Helper()
	s := scanner{deprecateEOF: deprecateEOF}
	s.begin()
	for i, p := range pieces {
		done, err := s.feed(p)
		if err != nil {
			return s.answer, err
		}
		if done != (i == len(pieces)-1) {
			t.Fatalf("after piece %d of %d: complete is %v", i+1, len(pieces), done)
		}
	}
	return s.answer, nil
}

func TestAnswersInPiecesOfEverySize(t *testing.T) {
	for _, c := range []struct {
		name         string
		deprecateEOF bool
		bytes        []byte
		rows, ok     uint64
	}{
		{"OK", false, packets(okPacket), 0, 1},
		{"two rows", false, packets("\x01", column, eofPacket, "\x0242", "\x0241", eofPacket), 2, 0},
		{"no row", false, packets("\x01", column, eofPacket, eofPacket), 0, 0},
		{"rows without EOF", true, packets("\x02", column, column, "\x0242\x011", okAsEOF), 1, 0},
		{"row that begins with 0xfe", false, packets("\x01", column, eofPacket, "\xfe\x01\x00\x00\x00\x00\x00\x00\x00x", eofPacket), 1, 0},
		{"long row", false, packets("\x01", column, eofPacket, "\xfc\xe8\x03"+strings.Repeat("x", 1000), eofPacket), 1, 0},
	} {
		for size := 1; size <= len(c.bytes); size++ {
			var pieces [][]byte
			for rest := c.bytes; len(rest) > 0; rest = rest[min(size, len(rest)):] {
				pieces = append(pieces, rest[:min(size, len(rest))])
			}
			a, err := scan(t, c.deprecateEOF, pieces...)
			if err != nil || a.rows != c.rows || a.affected != c.ok {
				t.Errorf("%s, %d bytes at once: %+v, %v", c.name, size, a, err)
			}
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"error":            {packets(errPacket), "error 1064: #42000no such thing"},
		"error among rows": {packets("\x01", column, eofPacket, "\x0242", errPacket), "error 1064"},
		"more results":     {packets("\x01", column, eofPacket, moreEOF), "another result"},
		"more after OK":    {packets("\x00\x01\x00\x0a\x00\x00\x00"), "another result"},
		"trailing bytes":   {append(packets(okPacket), 1), "follow the end"},
		"numbering":        {append(packets("\x01"), packets(column)...), "packet number 1 where 2 is due"},
		"no divider":       {packets("\x01", column, "\x0242"), "no EOF"},
		"local infile":     {packets("\xfb/etc/passwd"), "begins with byte 0xfb"},
		"cut OK":           {packets("\x00\x01"), "cut short"},
		"empty packet":     {packets(""), "a packet of 0 bytes"},
	} {
		if _, err := scan(t, false, c.bytes); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFirstColumn(t *testing.T) {
	a, err := scan(t, false, packets("\x01", column, eofPacket, "\x0242", "\x0241", eofPacket))
	if v, ok := firstColumn(&a, false); err != nil || !ok || v != 42 {
		t.Errorf("text: %d, %v, %v", v, ok, err)
	}
	binary := "\x00\x00\xfe\xff\xff\xff\xff\xff\xff\xff"
	a, err = scan(t, false, packets("\x01", column, eofPacket, binary, eofPacket))
	if v, ok := firstColumn(&a, true); err != nil || !ok || v != -2 {
		t.Errorf("binary: %d, %v, %v", v, ok, err)
	}
	a.firstRow = bytes.Replace(a.firstRow, []byte{0, 0}, []byte{0, 4}, 1)
	if _, ok := firstColumn(&a, true); ok {
		t.Error("a NULL passes for a number")
	}
}

func TestLengthEncoded(t *testing.T) {
	for in, want := range map[string]uint64{"\x07": 7, "\xfc\x01\x02": 0x201, "\xfd\x01\x02\x03": 0x30201, "\xfe\x01\x02\x03\x04\x05\x06\x07\x08": 0x807060504030201} {
		if got, rest, ok := lengthEncoded([]byte(in)); !ok || got != want || len(rest) != 0 {
			t.Errorf("%q: %#x, %q, %v", in, got, rest, ok)
		}
		if _, _, ok := lengthEncoded([]byte(in[:len(in)-1])); ok {
			t.Errorf("%q cut short passes", in)
		}
	}
}
