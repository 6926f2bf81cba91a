package ops

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"locus/control/events"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/idgen/cipher"
)

// TestKeysOfACluster creates a key ring, rotates its key, and retires the former key.
func TestKeysOfACluster(t *testing.T) {
	t.Parallel()
	o, kv := newOps(t)
	file := filepath.Join(t.TempDir(), "keys.yaml")
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := (CreateKeys{file}).Do(); err != nil {
		t.Fatal(err)
	}
	refused(CreateKeys{file}.Do(), "its keys decode existing order numbers, so it is not replaced")

	added := uint32(0)
	progress := RotationProgress{Unreachable: func(err error) { t.Error(err) }, Added: func(v uint32) { added = v }, Waiting: func([]keyring.Lack) {}}
	_, err := o.PlanRotateKey(t.Context(), RotateKey{File: file, Key: cipher.Rotation{Version: 9}, Existing: true}, progress)
	if refused(err, "version 9 is not in "+file+", which has [1]: nothing was changed"); !errors.Is(err, keyring.ErrUnchanged) {
		t.Errorf("the error does not wrap ErrUnchanged: %v", err)
	}
	k, err := o.PlanRotateKey(t.Context(), RotateKey{File: file, Key: cipher.Rotation{Cipher: "ff1"}}, progress)
	if err != nil || k.Version != 2 || !k.Adds {
		t.Fatalf("%+v %v", k, err)
	}
	done, err := o.RotateKey(t.Context(), k, "ann", progress)
	if err != nil || done.Unused != nil || !done.Current || !done.Added || added != 2 {
		t.Fatalf("%+v %v", done, err)
	}
	if got := fmt.Sprint(timeline(t, kv, events.Keys)); got != "[key ring: version 2 is current by ann false]" {
		t.Errorf("the timeline is %s", got)
	}

	card := fleet.Card{ID: "p1", Keys: &fleet.Keys{Versions: []fleet.KeyVersion{{Version: 1, Fingerprint: "?"}}, Stamps: 1}}
	put(t, kv, card.Key(), card.Text())
	_, err = PlanRetireKey(t.Context(), o, RetireKey{file, 2})
	refused(err, "version 2 hides new numbers: locus keys rotate --wait first")
	_, err = PlanRetireKey(t.Context(), o, RetireKey{file, 1})
	refused(err, "process p1 stamps with version 1 yet: locus keys status")
	k, err = o.PlanRotateKey(t.Context(), RotateKey{File: file, Key: cipher.Rotation{Version: 1}, Existing: true}, progress)
	if err != nil || len(k.Lacking) != 1 || k.Lacking[0].Process != "p1" {
		t.Fatalf("%+v %v", k, err)
	}
	_, err = o.RotateKey(t.Context(), k, "ann", progress)
	refused(err, "key version 1 did not become current, and 2 still is: nothing was changed\np1: it has another key under version 1")

	card.Keys.Stamps = 2
	put(t, kv, card.Key(), card.Text())
	retirement, err := PlanRetireKey(t.Context(), o, RetireKey{file, 1})
	if err == nil {
		err = retirement.Do()
	}
	if err != nil {
		t.Fatal(err)
	}
	list, unknown, err := RingKeys(t.Context(), o, file)
	if got := fmt.Sprint(list); err != nil || unknown != nil || got != "[{1  retired} {2 ff1 current}]" {
		t.Errorf("%s %v %v", got, unknown, err)
	}

	// A key that the file has already, and that was never current, is the next one.
	if version, err := (AddKey{file, cipher.Rotation{Cipher: "ff1"}}).Do(); err != nil || version != 3 {
		t.Fatal(version, err)
	}
	if k, err = o.PlanRotateKey(t.Context(), RotateKey{File: file, Key: cipher.Rotation{Cipher: "ff1"}}, progress); err != nil || k.Version != 3 || k.Adds {
		t.Errorf("%+v %v", k, err)
	}
}
