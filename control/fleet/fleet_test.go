package fleet_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"locus/config"
	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/fleet"
	"locus/internal/test/parallel"
	"locus/router/cluster"
)

func TestMain(m *testing.M) {
	parallel.Raise()
	goleak.VerifyTestMain(m)
}

func keys(t *testing.T) *etcd.KV {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return client.Under("/locus/test/")
}

// proxy registers a proxy that answers with the result of value; if value is nil, the proxy can't answer.
func proxy(t *testing.T, kv *etcd.KV, id string, value func() int64) (stop func()) {
	t.Helper()
	card := fleet.Card{ID: id, MapVersion: 7, Answers: value != nil}
	presence := kv.Presence(cluster.ProxyPrefix+id, card.Text(), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	if value != nil {
		a := &fleet.Answerer{
			KV: kv, Presence: presence, ID: id, Log: slog.New(slog.DiscardHandler),
			Values: map[fleet.Question]func() any{fleet.Load: func() any { return value() }},
		}
		running.Go(func() { _ = a.Run(ctx) })
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// registered waits until so many proxies have cards.
func registered(t *testing.T, kv *etcd.KV, n int) []fleet.Card {
	t.Helper()
	changes := kv.Changes(t.Context(), 0)
	for {
		cards, err := fleet.Cards(t.Context(), kv)
		if err != nil {
			t.Fatal(err)
		}
		if len(cards) == n {
			return cards
		}
		<-changes
	}
}

const patience = 30 * time.Second

// Every proxy computes its answer again for each question.
func TestAsk(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	var now atomic.Int64
	for i, id := range []string{"a", "b", "c"} {
		proxy(t, kv, id, func() int64 { return now.Load()*10 + int64(i) })
	}
	registered(t, kv, 3)
	for turn := range int64(3) {
		now.Store(turn)
		answers, err := fleet.Ask[int64](t.Context(), kv, fleet.Load, patience)
		if err != nil || len(answers.Silent) > 0 || len(answers.By) != 3 {
			t.Fatalf("%+v, %v", answers, err)
		}
		for i, id := range []string{"a", "b", "c"} {
			if got := answers.By[id]; got != turn*10+int64(i) {
				t.Errorf("turn %d: %s says %d", turn, id, got)
			}
		}
	}
}

// Repeated calls of AskLately reuse the answers to a recent question, but no older answers.
func TestAskLately(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	var asked atomic.Int64
	proxy(t, kv, "a", func() int64 { return asked.Add(1) })
	registered(t, kv, 1)
	lately := func(fresh time.Duration) int64 {
		t.Helper()
		answers, err := fleet.AskLately[int64](t.Context(), kv, fleet.Load, fresh, patience)
		if err != nil || len(answers.By) != 1 {
			t.Fatalf("%+v, %v", answers, err)
		}
		return answers.By["a"]
	}
	if first, again := lately(time.Hour), lately(time.Hour); first != 1 || again != 1 {
		t.Errorf("asked %d times, and %d", first, again)
	}
	if anew := lately(0); anew != 2 {
		t.Errorf("what is too old is taken: %d", anew)
	}
	proxy(t, kv, "b", func() int64 { return 7 })
	registered(t, kv, 2)
	answers, err := fleet.AskLately[int64](t.Context(), kv, fleet.Load, time.Hour, patience)
	if err != nil || answers.By["b"] != 7 || len(answers.By) != 2 {
		t.Errorf("with a proxy that came since: %+v, %v", answers, err)
	}
}

// A process without the proxy role is listed among the processes, but not among the proxies.
func TestAProcessThatIsNoProxy(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	card := fleet.Card{ID: "m", Roles: []config.Task{config.MoverTask}}
	presence := kv.Presence(card.Key(), card.Text(), time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	defer running.Wait()
	defer cancel()
	proxy(t, kv, "p", nil)
	registered(t, kv, 1)
	changes := kv.Changes(ctx, 0)
	for {
		all, err := fleet.Processes(t.Context(), kv)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 2 && all[0].ID == "p" && all[0].Proxies() && all[1].ID == "m" && !all[1].Proxies() {
			break
		}
		<-changes
	}
	if alive, err := fleet.Alive(t.Context(), kv); err != nil || !slices.Equal(alive, []string{"p"}) {
		t.Errorf("alive: %v, %v", alive, err)
	}
}

// A proxy that can't answer is listed as silent, and Ask does not wait for it. A proxy that has gone is not
// listed.
func TestAskWithoutAll(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	proxy(t, kv, "old", nil)
	leave := proxy(t, kv, "gone", func() int64 { return 1 })
	proxy(t, kv, "there", func() int64 { return 2 })
	cards := registered(t, kv, 3)
	if !slices.ContainsFunc(cards, func(c fleet.Card) bool { return c.ID == "old" && c.MapVersion == 7 }) {
		t.Errorf("cards: %+v", cards)
	}
	leave()
	registered(t, kv, 2)
	answers, err := fleet.Ask[int64](t.Context(), kv, fleet.Load, patience)
	if err != nil || len(answers.By) != 1 || answers.By["there"] != 2 || !slices.Equal(answers.Silent, []string{"old"}) {
		t.Errorf("%+v, %v", answers, err)
	}
}

// One that should answer and doesn't takes no more than the patience.
func TestAskTheDeaf(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	card := fleet.Card{ID: "deaf", Answers: true}
	if _, err := kv.Commit(t.Context(), nil, etcd.Put(cluster.ProxyPrefix+"deaf", card.Text())); err != nil {
		t.Fatal(err)
	}
	answers, err := fleet.Ask[int64](t.Context(), kv, fleet.Load, 300*time.Millisecond)
	if err != nil || len(answers.By) != 0 || !slices.Equal(answers.Silent, []string{"deaf"}) {
		t.Errorf("%+v, %v", answers, err)
	}
}

// Movers answer for their disks as proxies do. One of an older build counts as silent.
func TestMoversAnswerForTheirDisks(t *testing.T) {
	t.Parallel()
	kv, dir := keys(t), t.TempDir()
	for _, prefix := range []string{cluster.ProxyPrefix, cluster.ProcessPrefix} {
		card := fleet.Card{ID: "at " + prefix, Answers: true}
		presence := kv.Presence(prefix+card.ID, card.Text(), time.Minute)
		a := &fleet.Answerer{
			KV: kv, Presence: presence, ID: card.ID, Log: slog.New(slog.DiscardHandler),
			Values: map[fleet.Question]func() any{fleet.Space: func() any { return fleet.DiskOf(dir) }},
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = presence.Run(ctx) })
		running.Go(func() { _ = a.Run(ctx) })
		t.Cleanup(func() { cancel(); running.Wait() })
	}
	if _, err := kv.Commit(t.Context(), nil, etcd.Put(cluster.ProcessPrefix+"old", fleet.Card{ID: "old"}.Text())); err != nil {
		t.Fatal(err)
	}
	changes := kv.Changes(t.Context(), 0)
	for {
		all, err := fleet.Processes(t.Context(), kv)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 3 {
			break
		}
		<-changes
	}
	disks, err := fleet.Ask[fleet.Disk](t.Context(), kv, fleet.Space, patience)
	if err != nil || len(disks.By) != 2 || !slices.Equal(disks.Silent, []string{"old"}) {
		t.Fatalf("%+v, %v", disks, err)
	}
	for id, d := range disks.By {
		if d.Dir != dir || d.Total == 0 || d.Available > d.Total {
			t.Errorf("%s: %+v", id, d)
		}
	}
	if nowhere := fleet.DiskOf(dir + "/nowhere"); nowhere.Total != 0 {
		t.Errorf("%+v", nowhere)
	}
}

// TestAskAbout: each caller gets the answers about its own subject, even if others ask about another one at the same time.
func TestAskAbout(t *testing.T) {
	t.Parallel()
	kv := keys(t)
	for _, id := range []string{"a", "b"} {
		presence := kv.Presence(cluster.ProxyPrefix+id, fleet.Card{ID: id, Answers: true}.Text(), time.Minute)
		a := &fleet.Answerer{
			KV: kv, Presence: presence, ID: id, Log: slog.New(slog.DiscardHandler),
			About: map[fleet.Question]func(string) any{fleet.Digest: func(subject string) any { return id + " of " + subject }},
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = presence.Run(ctx) })
		running.Go(func() { _ = a.Run(ctx) })
		t.Cleanup(func() { cancel(); running.Wait() })
	}
	registered(t, kv, 2)
	var asking sync.WaitGroup
	for _, subject := range []string{"x", `"y" ü`} {
		asking.Go(func() {
			for range 10 {
				answers, err := fleet.AskAbout[string](t.Context(), kv, fleet.Digest, subject, patience)
				if err != nil || answers.By["a"] != "a of "+subject && answers.By["b"] != "b of "+subject {
					t.Errorf("about %s: %+v, %v", subject, answers, err)
				}
				for id, answer := range answers.By {
					if answer != id+" of "+subject {
						t.Errorf("about %s: %s", subject, answer)
					}
				}
			}
		})
	}
	asking.Wait()
}
