package cipher

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// maxVersion is the largest key version of any layout (bytes16's 20 bits).
const maxVersion = 1<<20 - 1

// Parse reads a key ring:
//
//	current: 2
//	keys:
//	  - version: 1
//	    cipher: ff1      # the default
//	    key: 2b7e…       # 16, 24 or 32 bytes in hex: AES-128, -192 or -256
//	  - version: 2
//	    cipher: aes-ctr
//	    bits: 15         # of the sequence that are hidden, 1 to 42; the default
//	    key: 603d…
//	  - version: 3
//	    cipher: chacha20
//	    key: 77ab…       # 32 bytes
//	retired: [4]             # versions whose keys are gone
//
// Errors name the line and never quote a value, because the value may be a key in the wrong place.
func Parse(text []byte) (*Ring, error) {
	root, err := document(text)
	if err != nil {
		return nil, fmt.Errorf("key ring: %w", err)
	}
	ring, err := parseRing(root)
	if err != nil {
		return nil, fmt.Errorf("key ring: %w", err)
	}
	return ring, nil
}

func parseRing(root *yaml.Node) (*Ring, error) {
	top, err := fields(root, "current", "keys", "retired")
	if err != nil {
		return nil, err
	}
	if top["current"] == nil {
		return nil, errors.New("current is missing: name the version that hides new numbers, like current: 1")
	}
	current, err := parseVersion(top["current"])
	if err != nil {
		return nil, err
	}
	if top["keys"] == nil || top["keys"].Kind != yaml.SequenceNode || len(top["keys"].Content) == 0 {
		return nil, errors.New("keys are missing: list at least one, with version and key")
	}
	ring := &Ring{current: current, keys: map[uint32]bijection{}}
	if ring.retired, err = parseRetired(top["retired"]); err != nil {
		return nil, err
	}
	for _, node := range top["keys"].Content {
		version, key, err := parseKey(node)
		if err != nil {
			return nil, err
		}
		if ring.keys[version] != nil {
			return nil, atLine(node, "version %d is listed twice: give each key a version of its own", version)
		}
		if slices.Contains(ring.retired, version) {
			return nil, atLine(node, "version %d is retired and has a key: take it out of one of the lists", version)
		}
		ring.keys[version] = key
	}
	if ring.keys[current] == nil {
		return nil, atLine(top["current"], "current version %d has no key: add it to keys, or name one of %v", current, ring.Versions())
	}
	return ring, nil
}

func parseKey(node *yaml.Node) (uint32, bijection, error) {
	parts, err := fields(node, "version", "cipher", "bits", "key")
	if err != nil {
		return 0, nil, err
	}
	if parts["version"] == nil || parts["key"] == nil {
		return 0, nil, atLine(node, "a key needs a version and a key")
	}
	version, err := parseVersion(parts["version"])
	if err != nil {
		return 0, nil, err
	}
	secret, err := hex.DecodeString(parts["key"].Value)
	if err != nil {
		return 0, nil, atLine(parts["key"], "the key of version %d is not hex", version)
	}
	name := "ff1"
	if c := parts["cipher"]; c != nil {
		name = c.Value
	}
	hidden, err := parseBits(parts["bits"], name)
	if err != nil {
		return 0, nil, err
	}
	var key bijection
	switch name {
	case "ff1", "aes-ctr":
		if n := len(secret); n != 16 && n != 24 && n != 32 {
			return 0, nil, atLine(parts["key"], "the key of version %d has %d bytes: AES takes 16, 24 or 32", version, n)
		}
		if name == "ff1" {
			key, err = newFF1(secret)
		} else {
			key, err = newAESCTR(secret, hidden)
		}
	case "chacha20":
		if len(secret) != 32 {
			return 0, nil, atLine(parts["key"], "the key of version %d has %d bytes: chacha20 takes 32", version, len(secret))
		}
		key = newChaCha20(secret)
	default:
		return 0, nil, atLine(parts["cipher"], "the cipher of version %d is unknown: this build knows ff1, chacha20 and aes-ctr", version)
	}
	if err != nil {
		return 0, nil, atLine(parts["key"], "the key of version %d: %w", version, err)
	}
	return version, key, nil
}

func parseBits(node *yaml.Node, cipher string) (uint8, error) {
	if node == nil {
		return streamBits, nil
	}
	n, err := strconv.ParseUint(node.Value, 10, 8)
	if cipher != "aes-ctr" || err != nil || n < 1 || n > 42 {
		return 0, atLine(node, "bits is how many bits aes-ctr hides, 1 to 42; other ciphers hide what they hide")
	}
	return uint8(n), nil
}

func parseRetired(node *yaml.Node) ([]uint32, error) {
	if node == nil {
		return nil, nil
	}
	if node.Kind != yaml.SequenceNode {
		return nil, atLine(node, "retired is a list of versions, such as [3, 4]")
	}
	var retired []uint32
	for _, item := range node.Content {
		version, err := parseVersion(item)
		if err != nil {
			return nil, err
		}
		retired = append(retired, version)
	}
	return retired, nil
}

func parseVersion(node *yaml.Node) (uint32, error) {
	n, err := strconv.ParseUint(node.Value, 10, 32)
	if err != nil || n < 1 || n > maxVersion {
		return 0, atLine(node, "a version is a whole number from 1 to %d (0 means that nothing is hidden and has no key)", maxVersion)
	}
	return uint32(n), nil
}

// document returns the root of the one YAML document in the text. It drops the parser's message except for the line,
// since the message may quote the text.
func document(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		return nil, errors.New("it is empty: it needs current and keys")
	}
	if err != nil {
		line := regexp.MustCompile(`line \d+`).FindString(err.Error())
		if line == "" {
			line = "somewhere"
		}
		return nil, fmt.Errorf("%s: not YAML", line)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one YAML document: keep one")
	}
	return doc.Content[0], nil
}

// fields returns the values of a mapping whose keys must be known and distinct.
func fields(node *yaml.Node, known ...string) (map[string]*yaml.Node, error) {
	if node.Kind != yaml.MappingNode {
		return nil, atLine(node, "expected the fields %q", known)
	}
	values := map[string]*yaml.Node{}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		switch {
		case values[name.Value] != nil:
			return nil, atLine(name, "%s stands here twice", name.Value)
		case !slices.Contains(known, name.Value):
			return nil, atLine(name, "unknown field %s: the fields are %q", quoteName(name.Value), known)
		case value.Kind == yaml.AliasNode:
			return nil, atLine(name, "%s is an alias: write the value out", name.Value)
		}
		values[name.Value] = value
	}
	return values, nil
}

// quoteName quotes a field's name unless it is as long as a key in hexadecimal.
func quoteName(name string) string {
	if len(name) >= 32 {
		return "of a long name"
	}
	return strconv.Quote(name)
}

func atLine(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", node.Line, fmt.Errorf(format, args...))
}
