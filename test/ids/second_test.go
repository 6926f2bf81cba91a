package ids

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// vector is an ID in its parts, and the expected results.
type vector struct {
	Layout   string `json:"layout"`
	Gene     uint32 `json:"gene"`
	Version  uint32 `json:"version"`
	Sequence string `json:"sequence"`
	ID       string `json:"id"`
	Number   string `json:"number"`
}

type key struct {
	Version uint32 `json:"version"`
	Cipher  string `json:"cipher"`
	Bits    int    `json:"bits,omitempty"`
	Key     string `json:"key"`
}

var keys = []key{
	{1, "ff1", 0, "2b7e151628aed2a6abf7158809cf4f3c"},
	{2, "ff1", 0, "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94"},
	{3, "chacha20", 0, "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94"},
	{4, "aes-ctr", 0, "2b7e151628aed2a6abf7158809cf4f3c"},
	{5, "aes-ctr", 42, "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f"},
}

func ringOf(t *testing.T) *cipher.Ring {
	var text strings.Builder
	fmt.Fprintln(&text, "current: 1\nkeys:")
	for _, k := range keys {
		fmt.Fprintf(&text, "  - version: %d\n    cipher: %s\n    key: %q\n", k.Version, k.Cipher, k.Key)
		if k.Bits > 0 {
			fmt.Fprintf(&text, "    bits: %d\n", k.Bits)
		}
	}
	ring, err := cipher.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// An implementation in another language, written after docs/internals/ids.md, makes the
// same IDs and order numbers of random parts.
func TestTheSecondImplementationAgrees(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: test/install/suites.sh node installs it", err)
	}
	ring := ringOf(t)
	var wanted []vector
	random := rand.New(rand.NewPCG(1, 2))
	for _, l := range orderid.Layouts() {
		for n := range 300 {
			version := uint32(0)
			if l.VersionBits() > 0 {
				version = uint32(n) % uint32(len(keys)+1)
			}
			limit := l.MaxSequence()
			s := orderid.Sequence{Hi: random.Uint64() & limit.Hi, Lo: random.Uint64() & limit.Lo}
			g := gene.Gene(random.Uint32()) & l.GeneWidth().Last()
			id, err := l.Compose(g, version, s)
			if err != nil {
				t.Fatal(err)
			}
			number := id
			if version > 0 {
				if number, err = ring.Encode(l, id); err != nil {
					t.Fatal(err)
				}
			}
			sequence := new(big.Int).SetUint64(s.Hi)
			sequence.Lsh(sequence, 64).Add(sequence, new(big.Int).SetUint64(s.Lo))
			wanted = append(wanted, vector{
				l.Name(), uint32(g), version, sequence.String(),
				hex.EncodeToString(l.AppendBytes(nil, id)), hex.EncodeToString(l.AppendBytes(nil, number)),
			})
		}
	}
	asked := make([]vector, len(wanted))
	for i, v := range wanted {
		v.ID, v.Number = "", ""
		asked[i] = v
	}
	input, err := json.Marshal(map[string]any{"keys": keys, "vectors": asked})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, "second.mjs")
	command.Stdin = bytes.NewReader(input)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &complaint)
	}
	var got []vector
	if err := json.Unmarshal(output, &got); err != nil || len(got) != len(wanted) {
		t.Fatalf("%d vectors, %v", len(got), err)
	}
	for i := range wanted {
		if got[i] != wanted[i] {
			t.Errorf("Go makes %+v, JavaScript %+v", wanted[i], got[i])
		}
	}
}
