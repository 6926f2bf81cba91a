package etcd_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/internal/test/parallel"
)

func TestMain(m *testing.M) {
	parallel.Raise()
	goleak.VerifyTestMain(m)
}

func TestGet(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	value, revision, err := kv.Get(t.Context(), "a")
	if value != nil || revision != 0 || err != nil {
		t.Errorf("absent: %q, %d, %v", value, revision, err)
	}
	first := commit(t, kv, nil, etcd.Put("a", []byte("1")))
	commit(t, kv, nil, etcd.Put("b", []byte("2")))
	value, revision, err = kv.Get(t.Context(), "a")
	if string(value) != "1" || revision != first || err != nil {
		t.Errorf("%q, %d, %v; written at %d", value, revision, err, first)
	}
}

func TestGetPrefixIsOneMoment(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	one := commit(t, kv, nil, etcd.Put("t/a", []byte("1")), etcd.Put("u", nil))
	two := commit(t, kv, nil, etcd.Put("t/b", []byte("2")), etcd.Delete("u"), etcd.Delete("absent"))
	pairs, revision, err := kv.GetPrefix(t.Context(), "t/")
	want := []etcd.KeyValue{{Key: "t/a", Value: []byte("1"), Revision: one}, {Key: "t/b", Value: []byte("2"), Revision: two}}
	same := func(a, b etcd.KeyValue) bool {
		return a.Key == b.Key && a.Revision == b.Revision && bytes.Equal(a.Value, b.Value)
	}
	if err != nil || revision != two || !slices.EqualFunc(pairs, want, same) {
		t.Errorf("%v at %d, %v", pairs, revision, err)
	}
	for _, since := range []int64{0, one, two, two + 1000} { // a lagging member does not have the last revision yet
		values, revision, err := kv.Under("t/").Read(t.Context(), since)
		if err != nil || revision != two || len(values) != 2 || string(values["a"]) != "1" || string(values["b"]) != "2" {
			t.Errorf("since %d: %v at %d, %v", since, values, revision, err)
		}
	}
}

func TestCompareAndSwap(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	swap := func(revision int64, value string, want bool) {
		t.Helper()
		done, err := kv.CompareAndSwap(t.Context(), "k", revision, []byte(value))
		if done != want || err != nil {
			t.Fatalf("%v, %v", done, err)
		}
	}
	swap(0, "a", true)
	swap(0, "b", false)
	_, revision, err := kv.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	swap(revision+1, "c", false)
	swap(revision, "d", true)
	swap(revision, "e", false)
	if value, _, err := kv.Get(t.Context(), "k"); string(value) != "d" || err != nil {
		t.Errorf("%q, %v", value, err)
	}
}

func TestCommitIsAllOrNothing(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	seen := commit(t, kv, nil, etcd.Put("a", []byte("1")), etcd.Put("b", []byte("1")), etcd.Put("gone", nil))
	commit(t, kv, nil, etcd.Put("b", []byte("2")), etcd.Delete("gone"))
	for _, test := range []struct {
		guard etcd.Guard
		want  string
	}{
		{etcd.Guard{Key: "b", Revision: seen}, "another operator has changed " + t.Name() + "/b in the meantime (from revision "},
		{etcd.Guard{Key: "a", Revision: 0}, "another operator has made " + t.Name() + "/a in the meantime (revision "},
		{etcd.Guard{Key: "gone", Revision: seen}, "another operator has deleted " + t.Name() + "/gone in the meantime (revision "},
	} {
		_, err := kv.Commit(t.Context(), []etcd.Guard{{Key: "new", Revision: 0}, test.guard}, etcd.Put("a", []byte("9")), etcd.Put("new", nil))
		var conflict *etcd.Conflict
		if !errors.As(err, &conflict) || conflict.Key != t.Name()+"/"+test.guard.Key || conflict.Seen != test.guard.Revision {
			t.Errorf("%v", err)
		}
		if !strings.HasPrefix(err.Error(), test.want) || !strings.HasSuffix(err.Error(), "; nothing was written: read it again, and repeat the command if it still applies") {
			t.Errorf("got  %v\nwant %s…", err, test.want)
		}
	}
	values, _, err := kv.Read(t.Context(), 0)
	if err != nil || len(values) != 2 || string(values["a"]) != "1" {
		t.Errorf("something was written: %v, %v", values, err)
	}
}

func TestARefusedWriteSaysSo(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	for name, do := range map[string]func() error{
		"too large": func() error {
			_, err := kv.CompareAndSwap(t.Context(), "k", 0, make([]byte, 9<<20))
			return err
		},
		"one key twice": func() error {
			_, err := kv.Commit(t.Context(), nil, etcd.Put("k", nil), etcd.Put("k", nil))
			return err
		},
		"over before it began": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := kv.CompareAndSwap(ctx, "k", 0, nil)
			return err
		},
	} {
		if err := do(); err == nil || errors.Is(err, etcd.ErrUnknown) || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWriteToADeadServerIsUnknown(t *testing.T) {
	t.Parallel()
	kv := open(t, etcd.Config{Endpoints: []string{silent(t)}, RequestTimeout: 50 * time.Millisecond}).Under("")
	_, err := kv.CompareAndSwap(t.Context(), "k", 0, nil)
	for range 100 { // on a busy machine the time ends before the connection is made, and then nothing was written
		if errors.Is(err, etcd.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			break
		}
		_, err = kv.CompareAndSwap(t.Context(), "k", 0, nil)
	}
	if !errors.Is(err, etcd.ErrUnknown) {
		t.Errorf("got %v", err)
	}
	if _, _, err := kv.Get(t.Context(), "k"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestAClosedClientRefuses(t *testing.T) {
	t.Parallel()
	client := open(t, etcd.Config{Endpoints: []string{server(t).Endpoint()}})
	kv := client.Under("")
	if _, _, err := kv.Get(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := kv.Get(t.Context(), "k"); err == nil || !strings.Contains(err.Error(), "the client is closed") {
		t.Errorf("got %v", err)
	}
	if err := kv.Presence("k", nil, time.Second).Run(t.Context()); err == nil {
		t.Error("a presence runs on")
	}
	for range kv.Changes(t.Context(), 0) {
		t.Error("a change")
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]etcd.Config{
		"open etcd: name at least one endpoint": {},
		"open etcd: user root has no password":  {Endpoints: []string{"h:1"}, Username: "root"},
	} {
		if _, err := etcd.Open(c); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// silent accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

// server starts an etcd for one test.
func server(t *testing.T) *embedded.Server {
	t.Helper()
	s := run(t, embedded.Config{Dir: t.TempDir()})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func run(t testing.TB, c embedded.Config) *embedded.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.Unflushed = true
	s, err := embedded.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// restart stops a server and starts it again on the same data and port.
func restart(t *testing.T, s *embedded.Server, dir string) *embedded.Server {
	t.Helper()
	port := portOf(t, s)
	closeServer(t, s)
	return run(t, embedded.Config{Dir: dir, Port: port})
}

func closeServer(t *testing.T, s *embedded.Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func portOf(t *testing.T, s *embedded.Server) int {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func open(t testing.TB, c etcd.Config) *etcd.Client {
	t.Helper()
	client, err := etcd.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// fresh returns an etcd without keys under the test's name.
func fresh(t *testing.T) *etcd.KV {
	t.Helper()
	return open(t, etcd.Config{Endpoints: []string{server(t).Endpoint()}}).Under(t.Name() + "/")
}

// raw returns a plain etcd client, for an administrator's changes.
func raw(t *testing.T, c clientv3.Config) *clientv3.Client {
	t.Helper()
	c.Logger = zap.NewNop()
	client, err := clientv3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func commit(t testing.TB, kv *etcd.KV, guards []etcd.Guard, writes ...etcd.Write) int64 {
	t.Helper()
	revision, err := kv.Commit(t.Context(), guards, writes...)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// A write with a guard of a prefix is refused if a key was created or changed under it since the read.
// Deletions don't matter.
func TestAGuardOfAPrefix(t *testing.T) {
	t.Parallel()
	kv := fresh(t)
	commit(t, kv, nil, etcd.Put("cards/a", nil), etcd.Put("cards/b", nil))
	read := commit(t, kv, nil, etcd.Put("beside", nil))
	guard := etcd.Guard{Key: "cards/", Revision: read, Prefix: true}
	commit(t, kv, nil, etcd.Delete("cards/b"))
	commit(t, kv, []etcd.Guard{guard, {Key: "none/", Prefix: true}}, etcd.Put("k", nil))
	for _, changed := range []string{"cards/a", "cards/new"} {
		guard.Revision = commit(t, kv, nil, etcd.Put("beside", nil))
		found := commit(t, kv, nil, etcd.Put(changed, nil))
		_, err := kv.Commit(t.Context(), []etcd.Guard{guard}, etcd.Put("k", nil))
		var conflict *etcd.Conflict
		if !errors.As(err, &conflict) || conflict.Key != t.Name()+"/"+changed || conflict.Found != found {
			t.Errorf("%s: %v", changed, err)
		}
	}
}
