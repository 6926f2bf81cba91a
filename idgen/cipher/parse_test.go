package cipher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const secret = "2b7e151628aed2a6abf7158809cf4f3c"

func TestParseRefuses(t *testing.T) {
	for _, v := range []struct{ text, want string }{
		{"", "key ring: it is empty: it needs current and keys"},
		{"# nothing\n", "key ring: it is empty: it needs current and keys"},
		{"- 1", `key ring: line 1: expected the fields ["current" "keys" "retired"]`},
		{
			"keys: [{version: 1, key: K}]",
			"key ring: current is missing: name the version that hides new numbers, like current: 1",
		},
		{"current: 1", "key ring: keys are missing: list at least one, with version and key"},
		{"current: 1\nkeys: []", "key ring: keys are missing: list at least one, with version and key"},
		{
			"current: 2\nkeys: [{version: 1, key: K}]",
			"key ring: line 1: current version 2 has no key: add it to keys, or name one of [1]",
		},
		{
			"current: 0\nkeys: [{version: 1, key: K}]",
			"key ring: line 1: a version is a whole number from 1 to 1048575 (0 means that nothing is hidden and has no key)",
		},
		{
			"current: 1\nkeys:\n  - version: 1048576\n    key: K",
			"key ring: line 3: a version is a whole number from 1 to 1048575 (0 means that nothing is hidden and has no key)",
		},
		{
			"current: 1\nkeys:\n  - version: K\n    key: 1",
			"key ring: line 3: a version is a whole number from 1 to 1048575 (0 means that nothing is hidden and has no key)",
		},
		{
			"current: 1\nkeys:\n  - {version: 1, key: K}\n  - {version: 1, key: K}",
			"key ring: line 4: version 1 is listed twice: give each key a version of its own",
		},
		{
			"current: 1\nkeys:\n  - version: 1\n    secret: K",
			`key ring: line 4: unknown field "secret": the fields are ["version" "cipher" "bits" "key"]`,
		},
		{
			"current: 1\nkeys:\n  - version: 1\n    K: key",
			`key ring: line 4: unknown field of a long name: the fields are ["version" "cipher" "bits" "key"]`,
		},
		{"current: 1\nretire: 2", `key ring: line 2: unknown field "retire": the fields are ["current" "keys" "retired"]`},
		{"current: 1\ncurrent: 2", "key ring: line 2: current stands here twice"},
		{"current: 1\nkeys:\n  - key: K", "key ring: line 3: a key needs a version and a key"},
		{"current: 1\nkeys:\n  - K", `key ring: line 3: expected the fields ["version" "cipher" "bits" "key"]`},
		{
			"current: 1\nkeys:\n  - version: 1\n    cipher: K\n    key: K",
			"key ring: line 4: the cipher of version 1 is unknown: this build knows ff1, chacha20 and aes-ctr",
		},
		{"current: 1\nkeys:\n  - version: 1\n    key: xK", "key ring: line 4: the key of version 1 is not hex"},
		{
			"current: 1\nkeys:\n  - version: 1\n    key: Kff",
			"key ring: line 4: the key of version 1 has 17 bytes: AES takes 16, 24 or 32",
		},
		{
			"current: 1\nkeys:\n  - version: 1\n    key: *a" + secret,
			"key ring: line 4: not YAML",
		},
		{"current: 1\nkeys:\n  - version: 1\n    key: \"K", "key ring: line 4: not YAML"},
		{"current: &a 1\nkeys:\n  - version: *a\n    key: K", "key ring: line 3: version is an alias: write the value out"},
		{"current: 1\nkeys: [{version: 1, key: K}]\n---\ncurrent: 1", "key ring: more than one YAML document: keep one"},
	} {
		text := strings.ReplaceAll(v.text, "K", secret)
		_, err := Parse([]byte(text))
		switch {
		case err == nil || err.Error() != v.want:
			t.Errorf("%q:\n got %v\nwant %s", v.text, err, v.want)
		case strings.Contains(err.Error(), secret[:7]):
			t.Errorf("%q: the error shows the key: %v", v.text, err)
		}
	}
}

func TestKeysAreNeverPrinted(t *testing.T) {
	ring := mustParse(t, twoKeys)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		holder := struct {
			public  any
			private *Ring
			value   Ring
			key     bijection
		}{ring, ring, *ring, ring.keys[1]}
		fmt.Fprintf(&out, verb+"\n", ring)
		fmt.Fprintf(&out, verb+"\n", *ring)
		fmt.Fprintf(&out, verb+"\n", holder)
		fmt.Fprintf(&out, verb+"\n", ring.keys)
		fmt.Fprintf(&out, verb+"\n", ring.keys[1])
	}
	asJSON, err := json.Marshal(map[string]any{"ring": ring})
	if err != nil {
		t.Fatal(err)
	}
	out.Write(asJSON)
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("ring", "ring", ring)
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("ring", "ring", ring)
	out.Write(logged.Bytes())

	printed := strings.ToLower(out.String())
	for _, forbidden := range []string{
		secret, "2b, 0x7e", "2b 7e", "43 126 21", "0x2b, 0x7e", "162b", // the key as hex, Go syntax, decimal
		"16157e2b", "371293739", // the first word of the key, little-endian, as AES stores it
	} {
		if strings.Contains(printed, forbidden) {
			t.Errorf("a key is printed as %q:\n%s", forbidden, out.String())
		}
	}
	if got := fmt.Sprint(ring); got != "key ring of versions [1 2], current 2" {
		t.Error(got)
	}
}
