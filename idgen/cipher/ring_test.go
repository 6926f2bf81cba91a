package cipher

import (
	"errors"
	"strings"
	"testing"

	"locus/idgen/orderid"
)

const twoKeys = `
current: 2
keys:
  - version: 1
    cipher: ff1
    key: 2b7e151628aed2a6abf7158809cf4f3c
  - version: 2
    key: 2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94
`

func mustParse(t testing.TB, text string) *Ring {
	t.Helper()
	ring, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func layoutNamed(t testing.TB, name string) orderid.Layout {
	t.Helper()
	l, err := orderid.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRing(t *testing.T) {
	ring := mustParse(t, twoKeys)
	if ring.Current() != 2 || len(ring.Versions()) != 2 {
		t.Fatal(ring)
	}
	l := layoutNamed(t, "int64")
	numbers := map[orderid.ID]uint32{}
	for _, version := range []uint32{0, 1, 2} {
		id, err := l.Compose(0x3eab, version, orderid.Seq(10001))
		if err != nil {
			t.Fatal(err)
		}
		number, err := ring.Encode(l, id)
		if err != nil {
			t.Fatal(err)
		}
		if hidden := number != id; hidden != (version > 0) {
			t.Errorf("version %d: hidden is %v", version, hidden)
		}
		if back, err := ring.Decode(l, number); err != nil || back != id {
			t.Errorf("version %d: %s came back as %s, %v", version, id, back, err)
		}
		numbers[number] = version
	}
	if len(numbers) != 3 {
		t.Errorf("versions share an order number: %v", numbers)
	}
}

// Printed numbers are out in the world: they may never change.
func TestGoldenNumbers(t *testing.T) {
	ring := mustParse(t, twoKeys)
	for _, v := range []struct {
		layout   string
		version  uint32
		sequence uint64
		want     string
	}{
		{"int64", 0, 1, "1104930021077680129"},
		{"int64", 1, 1, "1104938613618038228"},
		{"int64", 1, 2, "1104936487001178231"},
		{"int64", 2, 1, "1104939516146216938"},
		{"int64-14", 2, 1, "4419730045205276949"},
		{"bytes16", 1, 1, "X'001eab000015bd3b211e4511dd304a38'"},
		{"bytes16", 2, 1, "X'001eab000028dfa80f2e561ea860dfdd'"},
	} {
		l := layoutNamed(t, v.layout)
		id, err := l.Compose(0x1eab, v.version, orderid.Seq(v.sequence))
		if err != nil {
			t.Fatal(err)
		}
		number, err := ring.Encode(l, id)
		if got := string(l.AppendSQL(nil, number)); err != nil || got != v.want {
			t.Errorf("%s version %d sequence %d: %s, %v, want %s", v.layout, v.version, v.sequence, got, err, v.want)
		}
	}
}

func TestRingRefuses(t *testing.T) {
	ring := mustParse(t, twoKeys)
	int64s := layoutNamed(t, "int64")
	id, _ := int64s.Compose(0, 7, orderid.Seq(5))

	_, err := ring.Encode(int64s, id)
	want := "encode order ID 30786325577733: key version 7 is not in the key ring, which has only 1 2: add the key of version 7 to the ring file"
	var unknown *UnknownVersionError
	if err == nil || err.Error() != want || !errors.As(err, &unknown) || unknown.Version != 7 {
		t.Error(err)
	}
	_, err = new(Ring).Decode(int64s, id)
	want = "decode order number 30786325577733: key version 7 is not in the key ring, which has no version: add the key of version 7 to the ring file"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
	for _, name := range []string{"plain64", "js53"} {
		l := layoutNamed(t, name)
		want := "layout " + name + " has no bits for a key version, so it has no order numbers: use layout int64 or bytes16"
		if _, err := ring.Encode(l, orderid.ID{Lo: 5}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ring.Decode(l, orderid.ID{Lo: 5}); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

// Another key, cipher or number of bits gives another fingerprint. The version number of a key does not change
// it.
func TestFingerprint(t *testing.T) {
	seen := map[string]string{}
	for _, key := range []string{
		"key: 2b7e151628aed2a6abf7158809cf4f3c",
		"key: 2b7e151628aed2a6abf7158809cf4f3d",
		"cipher: aes-ctr\n    key: 2b7e151628aed2a6abf7158809cf4f3c",
		"cipher: aes-ctr\n    bits: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3c",
		"cipher: aes-ctr\n    bits: 1\n    key: 2b7e151628aed2a6abf7158809cf4f3d",
		"key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94",
		"cipher: chacha20\n    key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94",
	} {
		ring := mustParse(t, "current: 7\nkeys:\n  - version: 7\n    "+key+"\n")
		printed := ring.Fingerprint(7)
		if len(printed) != 16 || printed != ring.Fingerprint(7) {
			t.Errorf("%s: %q", key, printed)
		}
		if before := seen[printed]; before != "" {
			t.Errorf("%s and %s have one fingerprint", key, before)
		}
		seen[printed] = key
		if ring.Fingerprint(6) != "" {
			t.Error("a version without a key has a fingerprint")
		}
	}
}
