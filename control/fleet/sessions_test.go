package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/config/etcd/embedded"
	"locus/control/fleet"
	"locus/proxy/sysvars"
	"locus/router/cluster"
)

func TestFind(t *testing.T) {
	cards := []fleet.Card{{ID: "a:4306-111111", Addr: "10.0.0.1:4306"}, {ID: "b:4306-222222"}, {ID: "b:4306-333333"}, {ID: "b:43060-444444"}, {ID: "old:4306"}}
	for name, want := range map[string]string{
		"a:4306": "a:4306-111111", "a:4306-111111": "a:4306-111111", "b:4306-333333": "b:4306-333333", "old:4306": "old:4306",
		"10.0.0.1:4306": "a:4306-111111",
		"a":             "", "b:4306": "", "b:430": "", "a:4306-": "",
	} {
		at, err := fleet.Find(cards, name)
		switch {
		case want == "" && err == nil:
			t.Errorf("%s is %s", name, cards[at].ID)
		case want != "" && (err != nil || cards[at].ID != want):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// served registers a proxy that answers with sessions, and ends sessions by kill.
func served(t *testing.T, kv *etcd.KV, id string, sessions []sysvars.Process, kill func(context.Context, fleet.Kill) error) {
	t.Helper()
	presence := kv.Presence(cluster.ProxyPrefix+id, fleet.Card{ID: id, Answers: true}.Text(), time.Minute)
	log := slog.New(slog.DiscardHandler)
	answerer := &fleet.Answerer{KV: kv, Presence: presence, ID: id, Log: log, Values: map[fleet.Question]func() any{
		fleet.Sessions: func() any { return fleet.SessionsAnswer(sessions) },
	}}
	killer := &fleet.Killer{KV: kv, ID: id, Kill: kill, Now: time.Now, Log: log}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{presence.Run, answerer.Run, killer.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	t.Cleanup(func() { cancel(); running.Wait() })
}

// Sessions are listed without literals, the busiest first, and no proxy reports more than its limit.
func TestSessions(t *testing.T) {
	kv := keys(t)
	text := "SELECT * FROM orders WHERE card = 'secret' AND id = 17"
	database := "shop"
	served(t, kv, "a:1", []sysvars.Process{
		{ID: 1, User: "app", Host: "h:1", Command: "Sleep", Time: 900},
		{ID: 2, User: "app", Host: "h:2", Command: "Query", Time: 3, Info: &text, DB: &database},
	}, nil)
	var many []sysvars.Process
	for i := range uint32(1200) {
		many = append(many, sysvars.Process{ID: i + 1, User: "app", Command: "Sleep", Time: int(i)})
	}
	many[7].Command, many[7].Time = "Execute", 40
	served(t, kv, "b:1", many, nil)
	registered(t, kv, 2)
	list, err := fleet.SessionsOf(t.Context(), kv)
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Sessions) != 1002 || list.Omitted != 200 || list.Silent != nil {
		t.Fatalf("%d sessions, %d omitted, silent %v", len(list.Sessions), list.Omitted, list.Silent)
	}
	first := list.Sessions[0]
	if first.Proxy != "b:1" || first.ID != 8 {
		t.Errorf("the first one is %+v", first)
	}
	second := list.Sessions[1]
	if second.Proxy != "a:1" || second.Database != "shop" || !strings.Contains(second.Statement, "orders") || strings.Contains(second.Statement, "secret") || strings.Contains(second.Statement, "17") {
		t.Errorf("the second one is %+v", second)
	}
	if third := list.Sessions[2]; third.ID != 1200 || third.Runs() {
		t.Errorf("the third one is %+v", third)
	}
}

// No literal of a statement is listed, whatever the sql_mode of its session.
func TestSessionsWithoutLiterals(t *testing.T) {
	for _, text := range []string{`SELECT 'x\', 'secret'`, `SELECT 'x\'', secret, '`, `SELECT 'a\\', 'secret'`, `SELECT "x\", "secret"`, `SELECT 'x\', 'secret' /* ' */`} {
		kv := keys(t)
		served(t, kv, "a:1", []sysvars.Process{{ID: 1, Command: "Query", Info: &text}}, nil)
		registered(t, kv, 1)
		list, err := fleet.SessionsOf(t.Context(), kv)
		if err != nil || len(list.Sessions) != 1 {
			t.Fatal(err)
		}
		if s := list.Sessions[0].Statement; strings.Contains(s, "secret") || s == "" {
			t.Errorf("%s is listed as %q", text, s)
		}
	}
}

// The outcome of a request reaches its process, and the request's key does not stay.
func TestKill(t *testing.T) {
	kv := keys(t)
	var got []fleet.Kill
	served(t, kv, "a:1", nil, func(_ context.Context, k fleet.Kill) error {
		got = append(got, k)
		if k.Session == 9 {
			return errors.New("the proxy has no session 9")
		}
		return nil
	})
	k := fleet.Kill{Session: 7, Statement: true, By: "ann", At: time.Now().UTC().Truncate(time.Second)}
	if err := fleet.SendKill(t.Context(), kv, "a:1", k); err != nil {
		t.Fatal(err)
	}
	k.Session = 9
	if err := fleet.SendKill(t.Context(), kv, "a:1", k); err == nil || err.Error() != "the proxy has no session 9" {
		t.Error(err)
	}
	if len(got) != 2 || got[0].Session != 7 || !got[0].Statement || got[0].By != "ann" || !got[0].At.Equal(k.At) {
		t.Errorf("%+v", got)
	}
	if left, _, err := kv.GetPrefix(t.Context(), "kills/"); err != nil || len(left) != 0 {
		t.Errorf("%d requests stay, %v", len(left), err)
	}
}

// A request that no proxy takes is withdrawn. A proxy that starts later does not carry it out.
func TestKillIsWithdrawn(t *testing.T) {
	kv := keys(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := fleet.SendKill(ctx, kv, "a:1", fleet.Kill{Session: 7})
	if unknown := new(fleet.UnknownKillError); err == nil || errors.As(err, &unknown) || !strings.Contains(err.Error(), "session 7 continues") {
		t.Fatal(err)
	}
	done := make(chan uint32, 2)
	served(t, kv, "a:1", nil, func(_ context.Context, k fleet.Kill) error { done <- k.Session; return nil })
	if err := fleet.SendKill(t.Context(), kv, "a:1", fleet.Kill{Session: 8}); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got != 8 || len(done) != 0 {
		t.Errorf("session %d was ended, and %d more", got, len(done))
	}
}

// If a proxy takes a request and does not write its outcome, it is unknown whether the session has ended.
func TestKillIsUnknown(t *testing.T) {
	kv := keys(t)
	taken, end := make(chan struct{}), make(chan struct{})
	served(t, kv, "a:1", nil, func(context.Context, fleet.Kill) error { close(taken); <-end; return nil })
	defer close(end)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-taken; cancel() }()
	err := fleet.SendKill(ctx, kv, "a:1", fleet.Kill{Session: 7})
	if unknown := new(fleet.UnknownKillError); !errors.As(err, &unknown) || fmt.Sprint(err) != "proxy a:1 has not reported whether session 7 has ended: locus sessions list shows it" {
		t.Error(err)
	}
}

// Without etcd it is unknown whether the request was written, and so whether the session ends.
func TestKillWithoutEtcd(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Config{Dir: t.TempDir(), Unflushed: true})
	if err != nil {
		t.Fatal(err)
	}
	client, err := etcd.Open(etcd.Config{Endpoints: []string{server.Endpoint()}, RequestTimeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = server.Close()
	err = fleet.SendKill(t.Context(), client.Under("/locus/test/"), "a:1", fleet.Kill{Session: 7})
	if unknown := new(fleet.UnknownKillError); !errors.As(err, &unknown) {
		t.Error(err)
	}
}
