//go:build servers

package main

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/internal/test/servers"
	"locus/router/cluster"
)

// TestDoctor checks a healthy cluster, and then one with many faults at the same time.
func TestDoctor(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := openShopOn(t, servers.Start(t, engine, 2, "--max-connections=300", "--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1", "--binlog-expire-logs-seconds=100000"))
		client, err := etcd.Open(etcd.Config{Endpoints: []string{s.etcd}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		kv := client.Under("/locus/main/")
		play := s.transcript()
		proxy := func(answers map[fleet.Question]func() any) func(*testing.T, string) {
			return func(t *testing.T, line string) {
				t.Helper()
				id, version, _ := strings.Cut(line, " ")
				n, err := strconv.ParseInt(version, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				doctored(t, kv, fleet.Card{ID: id, MapVersion: n, Answers: true}, answers)
			}
		}
		play.steps["proxy"] = proxy(map[fleet.Question]func() any{
			fleet.Load: func() any { return struct{}{} }, fleet.Clock: func() any { return time.Now() }, fleet.Pulse: beating(nil),
		})
		play.steps["slow-clock"] = proxy(map[fleet.Question]func() any{
			fleet.Load: func() any { return struct{}{} }, fleet.Clock: func() any { return time.Now().Add(-time.Hour) },
			fleet.Pulse: beating(map[string]string{"app": `secret "users/app": not found`}),
		})
		play.steps["stuck"] = proxy(nil)
		play.steps["apply"] = func(t *testing.T, _ string) {
			s.output(t, "apply", "-c", s.file("locus.yaml"), "-f", s.file("cluster.yaml"), "--skip-live-check", "--force-move-without-data")
		}
		play.steps["prepare"] = func(t *testing.T, xid string) {
			s.shards[0].Exec(t, "XA START "+xid, "XA END "+xid, "XA PREPARE "+xid)
		}
		play.play(t, "testdata/doctor."+strings.ToLower(string(engine))+".txt")
	})
}

// beating is how a proxy does at which some users can't log in.
func beating(lockedOut map[string]string) func() any {
	return func() any { return fleet.Packed[fleet.Beat]{Value: fleet.Beat{LockedOut: lockedOut}} }
}

// doctored is a proxy that answers some questions.
func doctored(t *testing.T, kv *etcd.KV, card fleet.Card, answers map[fleet.Question]func() any) {
	t.Helper()
	presence := kv.Presence(cluster.ProxyPrefix+card.ID, card.Text(), time.Minute)
	answerer := &fleet.Answerer{KV: kv, Presence: presence, ID: card.ID, Log: slog.New(slog.DiscardHandler), Values: answers}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	running.Go(func() { _ = answerer.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	eventually(t, "the proxy lives", func() bool {
		alive, err := fleet.Alive(t.Context(), kv)
		return err == nil && slices.Contains(alive, card.ID)
	})
}
