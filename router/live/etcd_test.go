package live_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/router/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAChangeInEtcdComesIntoForce(t *testing.T) {
	kv := realEtcd(t)
	l, published := onEtcd(t, kv)
	for i := range 10 {
		change(t, kv, strconv.Itoa(i))
		await(t, published, strconv.Itoa(i))
		if got := l.Load().text; got != strconv.Itoa(i) {
			t.Errorf("in force is %q, want %d", got, i)
		}
	}
}

// BenchmarkChangeThroughEtcd measures the time from the end of the write until the state is in force.
func BenchmarkChangeThroughEtcd(b *testing.B) {
	kv := realEtcd(b)
	_, published := onEtcd(b, kv)
	var waited time.Duration
	for i := range b.N {
		change(b, kv, strconv.Itoa(i))
		written := time.Now()
		await(b, published, strconv.Itoa(i))
		waited += time.Since(written)
	}
	b.ReportMetric(float64(waited.Microseconds())/float64(b.N), "µs-after-write/op")
}

// onEtcd runs a Live on the keys of kv. The channel returns the states that come into force.
func onEtcd(t testing.TB, kv *etcd.KV) (*live.Live[state], <-chan string) {
	t.Helper()
	change(t, kv, "first")
	published := make(chan string, 1)
	l := live.New(live.Config[state]{
		Source: kv,
		Build:  build,
		Acknowledge: func(ctx context.Context, s *state, _ int64) error {
			select {
			case published <- s.text:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = l.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	await(t, published, "first")
	return l, published
}

func realEtcd(t testing.TB) *etcd.KV {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := embedded.Start(ctx, embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client.Under("/locus/test/declared/")
}

func change(t testing.TB, kv *etcd.KV, text string) {
	t.Helper()
	if _, err := kv.Commit(t.Context(), nil, etcd.Put("k", []byte(text))); err != nil {
		t.Fatal(err)
	}
}

func await(t testing.TB, published <-chan string, want string) {
	t.Helper()
	for {
		select {
		case got := <-published:
			if got == want {
				return
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%q doesn't come into force", want)
		}
	}
}
