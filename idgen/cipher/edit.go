package cipher

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"go.yaml.in/yaml/v4"
)

// Rotation is a new key for a ring.
type Rotation struct {
	Cipher string // ff1, chacha20 or aes-ctr
	// Version is the key's version; 0 for the one after the highest ever used.
	Version uint32
	// Reuse allows the new key to have a retired version. No number that the old key hid may be needed any
	// more.
	Reuse bool
	// Add keeps the current version, so that all processes get the key before any of them hides with it.
	Add bool
}

// Rotate adds a random key to a ring file and returns its version. Existing numbers can still be decoded.
func Rotate(file string, r Rotation) (version uint32, err error) {
	err = edit(file, func(ring *Ring, root *yaml.Node) error {
		version = r.Version
		if version == 0 {
			version = ring.Next()
		}
		if version > maxVersion {
			return fmt.Errorf("versions end at %d: retire one and reuse it", maxVersion)
		}
		if ring.keys[version] != nil {
			return fmt.Errorf("version %d has a key: numbers that it hid would decode to others", version)
		}
		if slices.Contains(ring.retired, version) {
			if !r.Reuse {
				return fmt.Errorf("version %d is retired: what it hid would decode to other orders; to reuse it, say that nothing of it is left", version)
			}
			setRetired(root, slices.DeleteFunc(ring.Retired(), func(v uint32) bool { return v == version }))
		}
		if r.Cipher != "ff1" && r.Cipher != "chacha20" && r.Cipher != "aes-ctr" {
			return fmt.Errorf("no cipher is named %q: choose ff1, chacha20 or aes-ctr", r.Cipher)
		}
		var key [32]byte
		rand.Read(key[:]) // never returns an error
		keys := field(root, "keys")
		keys.Style = 0
		keys.Content = append(keys.Content, mapping("version", number(version), "cipher", r.Cipher, "key", hex.EncodeToString(key[:])))
		if !r.Add {
			setField(root, "current", scalar(number(version)))
		}
		return nil
	})
	return version, err
}

// Use makes a version of a ring file the current one.
func Use(file string, version uint32) error {
	return edit(file, func(ring *Ring, root *yaml.Node) error {
		if ring.keys[version] == nil {
			return &UnknownVersionError{version, ring.Versions(), slices.Contains(ring.retired, version)}
		}
		setField(root, "current", scalar(number(version)))
		return nil
	})
}

// Retire removes a version's key from a ring file. Numbers that it hid can never be decoded again. The file
// keeps the version in a list, so that no other key gets it without Reuse.
func Retire(file string, version uint32) error {
	return edit(file, func(ring *Ring, root *yaml.Node) error {
		switch {
		case ring.keys[version] == nil:
			return &UnknownVersionError{version, ring.Versions(), slices.Contains(ring.retired, version)}
		case version == ring.current:
			return fmt.Errorf("version %d is the current one: rotate first", version)
		}
		keys := field(root, "keys")
		keys.Content = slices.DeleteFunc(keys.Content, func(n *yaml.Node) bool { return field(n, "version").Value == number(version) })
		setRetired(root, append(ring.Retired(), version))
		return nil
	})
}

// edit replaces a ring file with the result of change. Concurrent edits wait for each other. Comments are preserved.
func edit(file string, change func(*Ring, *yaml.Node) error) error {
	lock, err := os.OpenFile(file+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("change key ring: %w", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("change key ring: lock %s: %w", lock.Name(), err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("change key ring: %w", err)
	}
	ring, err := Parse(text)
	if err != nil {
		return fmt.Errorf("change %s: %w", file, err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("change %s: not YAML", file)
	}
	if err := change(ring, document.Content[0]); err != nil {
		return fmt.Errorf("change %s: %w: nothing was changed", file, err)
	}
	var next bytes.Buffer
	encoder := yaml.NewEncoder(&next)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&document), encoder.Close()); err != nil {
		return fmt.Errorf("change %s: %w", file, err)
	}
	if _, err := Parse(next.Bytes()); err != nil {
		return fmt.Errorf("change %s: %w: nothing was changed", file, err)
	}
	return replace(file, next.Bytes())
}

// replace writes a new file in place of an existing one. The new file has the owner and the mode of the old one, because processes of another user
// read it: root changes the ring of the service.
func replace(file string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".keys-*") // with mode 0600
	if err != nil {
		return fmt.Errorf("change key ring: %w: nothing was changed", err)
	}
	if err := keepOwner(f, file); err != nil {
		return errors.Join(fmt.Errorf("change key ring: keep its owner and mode: %w: nothing was changed", err), f.Close(), os.Remove(f.Name()))
	}
	if err := writeDurably(f, text); err != nil {
		return errors.Join(fmt.Errorf("change key ring: %w: nothing was changed", err), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), file); err != nil {
		return errors.Join(fmt.Errorf("change key ring: %w: nothing was changed", err), os.Remove(f.Name()))
	}
	return nil
}

// keepOwner gives a new file the owner, the group and the mode of an existing one.
func keepOwner(f *os.File, existing string) error {
	old, err := os.Stat(existing)
	if err != nil {
		return err
	}
	if s, is := old.Sys().(*syscall.Stat_t); is {
		if err := f.Chown(int(s.Uid), int(s.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(old.Mode().Perm())
}

func number(v uint32) string { return strconv.FormatUint(uint64(v), 10) }

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: text}
}

func mapping(pairs ...string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, text := range pairs {
		n.Content = append(n.Content, scalar(text))
	}
	n.Content[len(n.Content)-1].Tag = "!!str" // the hexadecimal text may look like a number
	return n
}

func field(node *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return &yaml.Node{}
}

func setField(node *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			node.Content[i+1] = value
			return
		}
	}
	node.Content = append(node.Content, scalar(name), value)
}

func setRetired(root *yaml.Node, versions []uint32) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	slices.Sort(versions)
	for _, v := range versions {
		list.Content = append(list.Content, scalar(number(v)))
	}
	setField(root, "retired", list)
}
