package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/config"
	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/internal/test/parallel"
)

// shared is the etcd of all tests that don't stop it.
var shared *embedded.Server

func TestMain(m *testing.M) {
	parallel.Raise()
	dir, err := os.MkdirTemp("", "keyring")
	if err == nil {
		shared, err = embedded.Start(context.Background(), embedded.Config{Dir: dir, Unflushed: true})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := errors.Join(shared.Close(), os.RemoveAll(dir), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// Keys of tests. The index is the version that has the key first.
var secrets = []string{"", "2b7e151628aed2a6abf7158809cf4f31", "2b7e151628aed2a6abf7158809cf4f32", "2b7e151628aed2a6abf7158809cf4f33", "2b7e151628aed2a6abf7158809cf4f3f"}

// ringText returns a ring file with versions, each with the key of the given index.
func ringText(current int, keys map[int]int, retired ...int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "current: %d\nkeys:\n", current)
	for version := range secrets {
		if key := keys[version]; key > 0 {
			fmt.Fprintf(&b, "  - {version: %d, key: '%s'}\n", version, secrets[key])
		}
	}
	fmt.Fprintf(&b, "retired: [%s]\n", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(retired)), ", "), "[]"))
	return b.String()
}

var (
	one    = ringText(1, map[int]int{1: 1})
	two    = ringText(1, map[int]int{1: 1, 2: 2})
	second = ringText(2, map[int]int{2: 2}, 1)
)

// world is a cluster's keys and the processes that use them.
type world struct {
	t  *testing.T
	kv *etcd.KV
}

// worlds counts the test worlds, so that a repeated test gets its own keys in etcd.
var worlds atomic.Int64

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOn(t, shared)
}

func worldOn(t *testing.T, server *embedded.Server) *world {
	t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}, RequestTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &world{t, client.Under(fmt.Sprintf("/locus/%s-%d/", t.Name(), worlds.Add(1)))}
}

// process is a process with keys. It uses the version that was last set by Stamp.
type process struct {
	*keyring.Keys
	id, file string
	begun    error
	leave    func()

	mu      sync.Mutex
	stamps  uint32
	failing error // the result of Stamp
}

func (p *process) stampsWith() uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stamps
}

func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = err
}

// start runs a process that takes statements, as locus serve does: its card first.
func (w *world) start(id, ring string) *process {
	w.t.Helper()
	p := &process{id: id, file: filepath.Join(w.t.TempDir(), "keys.yaml")}
	p.write(w.t, ring)
	var shows *fleet.Showing
	var err error
	p.Keys, err = keyring.Open(keyring.Options{
		File: p.file, KV: w.kv, By: id, Log: slog.New(slog.DiscardHandler), Now: time.Now, Look: 20 * time.Millisecond,
		Show: func(k fleet.Keys) { shows.Change(func(c *fleet.Card) { c.Keys = &k }) },
		Stamp: func(_ context.Context, version uint32) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.failing == nil {
				p.stamps = version
			}
			return p.failing
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	keys := p.Status()
	card := fleet.Card{ID: id, Keys: &keys, Roles: []config.Task{config.ProxyTask}}
	presence := w.kv.Presence(card.Key(), card.Text(), time.Minute)
	shows = fleet.Show(card, presence.Set)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	p.leave = sync.OnceFunc(func() { cancel(); running.Wait() })
	w.t.Cleanup(p.leave)
	<-presence.Known()
	if p.begun = p.Begin(ctx, true); p.begun != nil {
		p.leave()
		return p
	}
	running.Go(func() { _ = p.Run(ctx) })
	return p
}

// write replaces the ring file by renaming a new file, as deployment tools do.
func (p *process) write(t *testing.T, ring string) {
	t.Helper()
	beside := p.file + ".new"
	if err := os.WriteFile(beside, []byte(ring), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(beside, p.file); err != nil {
		t.Fatal(err)
	}
}

// until waits until a condition holds that a process brings about by itself.
func (w *world) until(what string, is func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("not so: %s", what)
		}
	}
}

func (p *process) reads() string { return p.Status().String() }

// rotation makes version 2 current.
func (w *world) rotation(wait time.Duration) keyring.Rotation {
	return keyring.Rotation{
		KV: w.kv, Version: 2, Fingerprint: fingerprint(w.t, two, 2), By: "anna", Now: time.Now, Wait: wait, Look: 20 * time.Millisecond, Tell: func([]keyring.Lack) {},
	}
}

func (w *world) current() uint32 {
	w.t.Helper()
	c, _, err := keyring.ReadCurrent(w.t.Context(), w.kv)
	if err != nil {
		w.t.Fatal(err)
	}
	return c.Version
}

// A rotation waits until the last process has the key, and then all stamp with it.
func TestARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.start("a", one), w.start("b", one)
	if a.begun != nil || b.begun != nil || a.stampsWith() != 1 || b.stampsWith() != 1 {
		t.Fatalf("%v, %v", a.begun, b.begun)
	}
	a.write(t, two)
	w.until("a reads 2", func() bool { return a.reads() == "1,2" })
	var err error
	w.until("others know that a has it", func() bool { // a publishes the versions after it has read the file
		_, err = w.rotation(0).Run(t.Context())
		return err == nil || !strings.Contains(err.Error(), "a: it has versions 1:")
	})
	if !errors.Is(err, keyring.ErrUnchanged) || !strings.Contains(err.Error(), "b: it has versions 1: bring the current key ring to it") || strings.Contains(err.Error(), "a:") {
		t.Errorf("b lacks it: %v", err)
	}
	if w.current() != 1 || a.stampsWith() != 1 {
		t.Errorf("version %d is current, and a stamps with %d", w.current(), a.stampsWith())
	}
	r := w.rotation(time.Minute)
	r.Tell = func([]keyring.Lack) { b.write(t, two) }
	outcome, err := r.Run(t.Context())
	if err != nil || outcome.Before != 1 || outcome.Current != 2 || len(outcome.Lagging) > 0 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if a.stampsWith() != 2 || b.stampsWith() != 2 {
		t.Errorf("a stamps with %d, b with %d", a.stampsWith(), b.stampsWith())
	}
	if outcome, err := w.rotation(0).Run(t.Context()); err != nil || outcome.Current != 2 {
		t.Errorf("a second time: %+v, %v", outcome, err)
	}
}

// A process that starts after a rotation without the new key, or with another key of that version, does not
// serve.
func TestAStartWithoutTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("a", two)
	if _, err := w.rotation(0).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ ring, want string }{
		"without":        {one, "key version 2 hides new numbers of this cluster since"},
		"with another":   {ringText(1, map[int]int{1: 1, 2: 4}), "has another key under it"},
		"with it":        {two, ""},
		"with it, alone": {second, ""},
	} {
		p := w.start(name, test.ring)
		switch {
		case test.want == "" && (p.begun != nil || p.stampsWith() != 2):
			t.Errorf("%s: %v, stamps with %d", name, p.begun, p.stampsWith())
		case test.want != "" && (p.begun == nil || !strings.Contains(p.begun.Error(), test.want) || p.stampsWith() != 0):
			t.Errorf("%s: %v, stamps with %d", name, p.begun, p.stampsWith())
		}
	}
}

// Processes start continuously, with and without the key. No process that serves ever lacks the current
// version, at whatever moment of the rotation it starts.
func TestStartsDuringARotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rings := []string{two, one}
	for round := range 15 {
		if _, err := w.kv.Commit(t.Context(), nil, etcd.Delete("keys/current")); err != nil {
			t.Fatal(err)
		}
		first := w.start("first", two)
		rotated := make(chan error, 1)
		go func() {
			_, err := w.rotation(0).Run(t.Context())
			rotated <- err
		}()
		other := w.start("other", rings[round%2])
		err := <-rotated
		if other.begun == nil && other.reads() == "1" && w.current() == 2 {
			t.Fatalf("round %d: a process serves that can't read version 2, which is current (%v)", round, err)
		}
		other.leave()
		first.leave()
	}
}

// A ring file that is incomplete, invalid, or lacks a version in use is refused and reported. The previous ring
// stays in force.
func TestARingIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("a", two)
	for name, test := range map[string]struct{ ring, want string }{
		"no YAML":           {"current: [", "not YAML"},
		"empty":             {"", "it is empty"},
		"half a key":        {two[:len(two)-len("'}\nretired: []\n")-1], "not YAML"},
		"one is gone":       {one, "version 2 is gone, and is not listed as retired"},
		"in use is gone":    {second, "version 1 is gone, and new numbers are hidden by it"},
		"another key":       {ringText(1, map[int]int{1: 1, 2: 4}), "version 2 has another key or cipher"},
		"current has none":  {strings.Replace(two, "current: 1", "current: 4", 1), "current version 4 has no key"},
		"retired and there": {ringText(1, map[int]int{1: 1, 2: 2}, 2), "is retired and has a key"},
	} {
		p.write(t, test.ring)
		w.until(name, func() bool { return strings.Contains(p.Status().Refused, test.want) })
		if strings.Contains(p.Status().Refused, "2b7e") {
			t.Errorf("%s: a key is told: %s", name, p.Status().Refused)
		}
		if p.Ring().Fingerprint(1) != fingerprint(t, two, 1) || p.Ring().Fingerprint(2) != fingerprint(t, two, 2) {
			t.Errorf("%s: the ring before is gone", name)
		}
		cards, err := fleet.Cards(t.Context(), w.kv)
		if err != nil {
			t.Fatal(err)
		}
		w.until(name+" is told", func() bool {
			cards, err = fleet.Cards(t.Context(), w.kv)
			return err == nil && strings.Contains(cards[0].Keys.Refused, test.want)
		})
		p.write(t, two)
		w.until("the file is right again", func() bool { return p.Status().Refused == "" })
	}
	if err := os.Remove(p.file); err != nil {
		t.Fatal(err)
	}
	w.until("the file is gone", func() bool { return strings.Contains(p.Status().Refused, "no such file") })
	p.write(t, ringText(1, map[int]int{1: 1, 3: 3}, 2))
	w.until("2 is retired and 3 came", func() bool { return p.reads() == "1,3" && p.Status().Refused == "" })
}

// Kubernetes mounts a secret as links, and points them to another directory at once.
func TestARingBehindLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("a", one)
	dir := t.TempDir()
	for _, version := range []string{"..one", "..two"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "..two", "keys.yaml"), []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(p.file, filepath.Join(dir, "..one", "keys.yaml")); err != nil {
		t.Fatal(err)
	}
	point := func(to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, "..tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	point("..one")
	if err := os.Symlink(filepath.Join(dir, "..data", "keys.yaml"), p.file); err != nil {
		t.Fatal(err)
	}
	point("..two")
	w.until("the other is read", func() bool { return p.reads() == "1,2" && p.Status().Refused == "" })
}

// Processes that are in the way of a rotation are named, and why; those that take no
// statements and have no ring are not.
func TestWhoIsInTheWay(t *testing.T) {
	t.Parallel()
	mover := []config.Task{config.MoverTask}
	fp := fingerprint(t, two, 2)
	keys := func(versions ...fleet.KeyVersion) *fleet.Keys { return &fleet.Keys{Versions: versions, Stamps: 1} }
	for want, card := range map[string]fleet.Card{
		"":  {ID: "x", Keys: keys(fleet.KeyVersion{Version: 2, Fingerprint: fp})},
		" ": {ID: "x", Keys: &fleet.Keys{}, Roles: mover},
		"x: an older build, which does not report its keys: upgrade it":                           {ID: "x"},
		"x: it has no key ring: name one in its configuration as key_ring":                        {ID: "x", Keys: &fleet.Keys{}},
		"x: it has versions 1: bring the current key ring to it":                                  {ID: "x", Roles: mover, Keys: keys(fleet.KeyVersion{Version: 1, Fingerprint: "f"})},
		"x: it has another key under version 2: bring the current key ring to it, and restart it": {ID: "x", Keys: keys(fleet.KeyVersion{Version: 2, Fingerprint: "f"})},
		"x: it has versions 1: bring the current key ring to it; it refuses its file: not YAML": {ID: "x", Keys: &fleet.Keys{
			Versions: []fleet.KeyVersion{{Version: 1, Fingerprint: "f"}}, Refused: "not YAML",
		}},
	} {
		var got []string
		for _, l := range keyring.Lacking([]fleet.Card{card}, 2, fp) {
			got = append(got, l.String())
		}
		if strings.Join(got, "\n") != strings.TrimSpace(want) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// A rotation that is interrupted, or whose time limit has passed, has changed nothing. Its error lists the
// processes that it waited for, and which of them did not answer.
func TestARotationThatDoesNotHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start("a", two)
	silent := fleet.Card{ID: "stopped", Answers: true, Keys: &fleet.Keys{Versions: []fleet.KeyVersion{{Version: 1, Fingerprint: "f"}}}}
	if _, err := w.kv.Commit(t.Context(), nil, etcd.Put(silent.Key(), silent.Text())); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	r := w.rotation(time.Hour)
	r.Tell = func([]keyring.Lack) { interrupt() }
	_, err := r.Run(ctx)
	if !errors.Is(err, keyring.ErrUnchanged) || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(err.Error(), "and 1 still is") {
		t.Errorf("interrupted: %v", err)
	}
	_, err = w.rotation(0).Run(t.Context())
	if !errors.Is(err, keyring.ErrUnchanged) || !strings.Contains(err.Error(), "stopped: it has versions 1") || !strings.Contains(err.Error(), "it does not answer") {
		t.Errorf("silent: %v", err)
	}
	if w.current() != 1 {
		t.Errorf("%d is current", w.current())
	}
}

// If etcd becomes unreachable during a rotation, the rotation reports that, and completes once etcd is back
// within the time limit. Processes continue to serve.
func TestARotationWithoutEtcd(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceValue(server.Close)
	t.Cleanup(func() { _ = stop() })
	w := worldOn(t, server)
	a, b := w.start("a", two), w.start("b", one)
	interrupted, interrupt := context.WithCancel(t.Context())
	r := w.rotation(time.Hour)
	r.Tell = func([]keyring.Lack) {
		if err := stop(); err != nil {
			t.Error(err)
		}
		interrupt()
	}
	_, err = r.Run(interrupted)
	if !errors.Is(err, keyring.ErrUnchanged) || !strings.Contains(err.Error(), "and 1 still is") {
		t.Errorf("interrupted with etcd away: %v", err)
	}
	if _, err := w.rotation(0).Run(t.Context()); err == nil || !errors.Is(err, keyring.ErrUnchanged) {
		t.Errorf("etcd away: %v", err)
	}
	b.write(t, two)
	w.until("b reads 2", func() bool { return b.reads() == "1,2" })
	if a.stampsWith() != 1 || b.stampsWith() != 1 {
		t.Errorf("a stamps with %d, b with %d", a.stampsWith(), b.stampsWith())
	}
}

// New IDs keep the previous version until the tables can use the new one, and the card reports that.
func TestATableThatCanNotFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("a", two)
	w.until("its card says what it stamps with", func() bool {
		cards, err := fleet.Cards(t.Context(), w.kv)
		return err == nil && len(cards) == 1 && cards[0].Keys != nil && cards[0].Keys.Stamps == 1
	})
	p.fail(errors.New("etcd is away"))
	r := w.rotation(time.Minute)
	waiting, enough := context.WithCancel(t.Context())
	defer enough()
	done := make(chan keyring.Outcome, 1)
	go func() {
		outcome, err := r.Run(waiting)
		if err != nil {
			t.Error(err)
		}
		done <- outcome
	}()
	w.until("2 is current", func() bool { return w.current() == 2 })
	enough()
	if outcome := <-done; len(outcome.Lagging) != 1 || outcome.Lagging[0].String() != "a: it hides new numbers with version 1" {
		t.Errorf("%+v", outcome)
	}
	if p.Status().Stamps != 1 {
		t.Errorf("the card says %d", p.Status().Stamps)
	}
	p.fail(nil)
	w.until("it follows", func() bool { return p.Status().Stamps == 2 && p.stampsWith() == 2 })
}

// Of two concurrent rotations one succeeds, and the other returns an error.
func TestTwoRotations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	three := ringText(1, map[int]int{1: 1, 2: 2, 3: 3})
	w.start("a", three)
	rotations := []keyring.Rotation{w.rotation(0), w.rotation(0)}
	rotations[1].Version, rotations[1].Fingerprint = 3, fingerprint(t, three, 3)
	for round := range 20 {
		r := rotations[round%2]
		if outcome, err := r.Run(t.Context()); err != nil || outcome.Current != r.Version {
			t.Fatalf("%+v, %v", outcome, err)
		}
	}
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, r := range rotations {
		both.Go(func() { _, errs[i] = r.Run(t.Context()) })
	}
	both.Wait()
	for i, err := range errs {
		if err != nil && !errors.Is(err, keyring.ErrUnchanged) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if errs[0] != nil && errs[1] != nil {
		t.Errorf("neither: %v, %v", errs[0], errs[1])
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	keys := func(stamps uint32, versions ...string) *fleet.Keys {
		k := &fleet.Keys{Stamps: stamps}
		for i, fp := range versions {
			if fp != "" {
				k.Versions = append(k.Versions, fleet.KeyVersion{Version: uint32(i + 1), Fingerprint: fp})
			}
		}
		return k
	}
	current := keyring.Current{Version: 1, Fingerprint: "a"}
	well := fleet.Card{ID: "well", Keys: keys(1, "a", "b")}
	for want, other := range map[string]*fleet.Keys{
		"":                            keys(1, "a", "b"),
		"lacks key version 2":         keys(1, "a"),
		"another key under version 1": keys(1, "z", "b"),
		"another key under version 2": keys(1, "a", "z"),
		"it has versions 2: bring":    keys(2, "", "b"),
		"it hides new numbers with version 2, and 1": keys(2, "a", "b"),
		"it has no key ring":                         {},
		"refuses its key ring's":                     {Stamps: 1, Versions: well.Keys.Versions, Refused: "not YAML"},
		"an older build":                             nil,
	} {
		got := keyring.Differences([]fleet.Card{well, {ID: "other", Keys: other}}, current)
		switch {
		case want == "" && got != nil:
			t.Errorf("%v", got)
		case want != "" && (len(got) != 1 || got[0].Process != "other" || !strings.Contains(got[0].Why, want)):
			t.Errorf("%v, want %s", got, want)
		}
	}
	if got := keyring.Differences([]fleet.Card{{ID: "old"}, {ID: "bare", Keys: &fleet.Keys{}}}, keyring.Current{}); got != nil {
		t.Errorf("where nobody has keys: %v", got)
	}
}

// Processes that can't hide a sequence of a generator are named, and why; those that make no texts are not.
func TestWithoutDigits(t *testing.T) {
	t.Parallel()
	keys := func(versions ...fleet.KeyVersion) *fleet.Keys { return &fleet.Keys{Versions: versions} }
	one, two, old := fleet.KeyVersion{Version: 1, Cipher: "ff1"}, fleet.KeyVersion{Version: 2, Cipher: "chacha20"}, fleet.KeyVersion{Version: 3}
	ids := []config.Task{config.IDsTask}
	for want, card := range map[string]fleet.Card{
		"":                                 {ID: "x", Keys: keys(fleet.KeyVersion{Version: 2, Cipher: "ff1"})},
		" ":                                {ID: "x"},
		"  ":                               {ID: "x", Keys: keys(), Roles: []config.Task{config.MoverTask}},
		"x: it has no key ring":            {ID: "x", Keys: keys()},
		"x: its key ring has versions 1,3": {ID: "x", Roles: ids, Keys: keys(one, old)},
		"x: its key version 2 is of cipher chacha20, and ff1 hides digits": {ID: "x", Keys: keys(one, two)},
		"   ": {ID: "x", Keys: keys(fleet.KeyVersion{Version: 2})},
	} {
		var got []string
		for _, l := range keyring.WithoutDigits([]fleet.Card{card}, 2) {
			got = append(got, l.String())
		}
		if strings.Join(got, "\n") != strings.TrimSpace(want) {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
