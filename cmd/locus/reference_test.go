//go:build servers

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/jobs"
	"locus/control/keyring"
	"locus/internal/test/golden"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/meter"
	"locus/proxy/sysvars"
	"locus/router/cluster"
)

// TestCommands runs an example of each command.
func TestCommands(t *testing.T) {
	s := openShop(t)
	client, err := etcd.Open(etcd.Config{Endpoints: []string{s.etcd}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	kv := client.Under("/locus/main/")
	play := s.transcript()
	play.words["KEYS"] = s.file("keys.yaml")
	play.steps["proxy"] = func(t *testing.T, _ string) { fakeProxy(t, kv, s.file("keys.yaml")) }
	told := func(events ...phase.Event) func(*testing.T, string) {
		return func(t *testing.T, id string) {
			t.Helper()
			store := jobs.New(kv, "a proxy", nil)
			for _, e := range events {
				order := job.Order{Name: string(e.Kind), Event: func(j *job.Job) phase.Event {
					if e.Kind == phase.StepTaken || e.Kind == phase.CutTo {
						_, e.Genes = j.State.Next()
					}
					if e.Kind == phase.CutTo {
						e.Genes, e.Step = j.State.Total, j.State.Total
					}
					return e
				}}
				if _, err := store.Tell(t.Context(), id, order, "a proxy", time.Unix(1, 0), nil); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	play.steps["plant"] = func(t *testing.T, key string) {
		t.Helper()
		if _, err := kv.Commit(t.Context(), nil, etcd.Put(key, nil)); err != nil {
			t.Fatal(err)
		}
	}
	ready := []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified}}
	play.steps["ready"] = told(ready...)
	play.steps["differs"] = func(t *testing.T, id string) {
		t.Helper()
		l := differences()
		if err := jobs.New(kv, "a proxy", nil).List(t.Context(), id, l); err != nil {
			t.Fatal(err)
		}
		told(phase.Event{Kind: phase.FailedWith, Why: "the servers differ in 3 rows", Remedy: "locus repair " + id, Rows: len(l.Rows)})(t, id)
	}
	play.steps["repaired"] = told(phase.Event{Kind: phase.Repaired, Why: "2 repaired"}, phase.Event{Kind: phase.Verified})
	play.steps["cut"] = func(t *testing.T, id string) {
		t.Helper()
		if id != "split-1" {
			told(append(ready, phase.Event{Kind: phase.CutTo})...)(t, id)
		}
		told(phase.Event{Kind: phase.StepTaken})(t, id)
	}
	play.play(t, "testdata/commands.txt")
}

// differences returns rows as a comparison lists them.
func differences() (l job.Differences) {
	seen := func(short string, version int64) job.Image {
		return job.Image{Sum: short, Version: &version, Short: short}
	}
	order := job.Difference{Leg: "split-1", Table: "shop.test_order", Owner: job.AtSource, Versioned: true}
	for _, d := range []struct {
		key            string
		columns        []string
		source, target job.Image
	}{
		{"4611826755915743233", []string{"status", "version"}, seen(`status="paid" version=3`, 3), seen(`status="new" version=2`, 2)},
		{"4611826755915743234", []string{"amount"}, seen("amount=5", 2), seen("amount=6", 2)},
		{"4611826755915743235", nil, job.Image{}, seen(`order_id=4611826755915743235 buyer_uid=7 amount=1 status="new" version=1`, 1)},
	} {
		order.KeyText, order.Key, order.Columns, order.Source, order.Target = `"`+d.key+`"`, []byte(d.key), d.columns, d.source, d.target
		l.Add(order)
	}
	return l
}

// fakeProxy registers a proxy in etcd: its card, its counters, and the version that it obeys.
func fakeProxy(t *testing.T, kv *etcd.KV, ring string) {
	t.Helper()
	card := fleet.Card{
		ID: "db-proxy-1:4306", Addr: "10.0.0.1:4306", MapVersion: 3, Version: "v0.9.0", PID: 4711,
		Started: time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC), Answers: true,
	}
	var shows *fleet.Showing
	keys, err := keyring.Open(keyring.Options{
		File: ring, KV: kv, By: card.ID, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return card.Started },
		Show:  func(k fleet.Keys) { shows.Change(func(c *fleet.Card) { c.Keys = &k }) },
		Stamp: func(context.Context, uint32) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	beats, tops := fakeBeats(card.Started), fakeTops()
	presence := kv.Presence(cluster.ProxyPrefix+card.ID, card.Text(), 10*time.Second)
	shows = fleet.Show(card, presence.Set)
	if err := keys.Begin(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	answers := &fleet.Answerer{KV: kv, Presence: presence, ID: card.ID, Log: slog.New(slog.DiscardHandler), Values: map[fleet.Question]func() any{
		fleet.Clock: func() any { return time.Now() },
		fleet.Load: func() any {
			return meter.Load{Heaviest: []meter.Rate{{Slot: 0x3eab, PerSecond: 120}, {Slot: 0x1234, PerSecond: 20}}, Scattered: 0.5}
		},
		fleet.Pulse:            func() any { return fleet.Packed[fleet.Beat]{Value: beats()} },
		fleet.Top:              func() any { return fleet.Packed[meter.Report]{Value: tops()} },
		fleet.ForgetStatements: func() any { return true },
		fleet.Sessions:         func() any { return fleet.SessionsAnswer(fakeSessions()) },
		fleet.Generators: func() any {
			return []generators.Report{
				{
					Name: "numbers", Left: map[string]float64{"sequence": 0.9973}, Loads: 12, Failed: 3, Waits: 1,
					Members: []generators.MemberReport{
						{Of: "numbers", Name: "etcd_numbers", State: "aside", Error: "etcd at 10.0.0.7:2379: context deadline exceeded"},
						{Of: "numbers", Name: "shard_numbers", State: "well"},
					},
				},
				{Name: "counter", Breakers: map[string]map[string]int{"redis": {"closed": 1}, "etcd": {"closed": 1}}},
			}
		},
	}}
	killer := &fleet.Killer{KV: kv, ID: card.ID, Now: time.Now, Log: slog.New(slog.DiscardHandler), Kill: func(_ context.Context, k fleet.Kill) error {
		if k.Session == 99 {
			return errors.New("the proxy has no session 99: locus sessions list shows its sessions")
		}
		return nil
	}}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = presence.Run(ctx) })
	running.Go(func() { _ = killer.Run(ctx) })
	running.Go(func() { _ = answers.Run(ctx) })
	running.Go(func() { _ = keys.Run(ctx) })
	running.Go(func() { _ = fleet.Obey(ctx, kv, card.ID, func(fleet.Order, string) { stop() }) })
	t.Cleanup(func() { stop(); running.Wait() })
	eventually(t, "the proxy lives", func() bool {
		cards, err := fleet.Cards(t.Context(), kv)
		return err == nil && len(cards) == 1 && cards[0].Keys != nil
	})
}

// fakeBeats returns the beats of a proxy whose statements grow by 140 with each question, one second apart.
func fakeBeats(started time.Time) func() fleet.Beat {
	n := uint64(0)
	return func() fleet.Beat {
		n++
		return fleet.Beat{
			At: started.Add(time.Duration(n) * time.Second), Started: started, Sessions: 12,
			Shards: map[string]fleet.Flow{
				"s0":          {Count: 100 * n, Times: []meter.Times{{UpToNs: 500_000, Count: 99 * n}, {UpToNs: 20_000_000, Count: n}}},
				"s1":          {Count: 30 * n, Failed: 3 * n, Times: []meter.Times{{UpToNs: 1_000_000, Count: 30 * n}}},
				meter.NoShard: {Count: 10 * n, Times: []meter.Times{{UpToNs: 50_000, Count: 10 * n}}},
			},
			Pools: map[string]fleet.Pool{"s0": {InUse: 7, Limit: 100}, "s1": {InUse: 1, Limit: 100}},
		}
	}
}

// fakeTops returns the cost of its statements in the same way.
func fakeTops() func() meter.Report {
	n := uint64(0)
	figures := func(hash, text string, count, failed uint64, upTo int64) meter.Figures {
		return meter.Figures{
			Hash: hash, Text: text, Database: "shop", Kind: "select", Count: count, Failed: failed, Rows: 2 * count, TotalMs: float64(count) * float64(upTo) / 1e6,
			SlowestMs: float64(upTo) / 1e6, Times: []meter.Times{{UpToNs: upTo, Count: count}}, LastCode: uint32(min(failed, 1) * 1062),
		}
	}
	return func() meter.Report {
		n++
		return meter.Report{
			At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(time.Duration(n) * 2 * time.Second), Kept: 3, Most: meter.MostDigests,
			Digests: []meter.Figures{
				figures("00000000000000a1", "SELECT * FROM test_order WHERE buyer_uid = ?", 1000*n, 0, 400_000),
				figures("00000000000000b2", "INSERT INTO test_order (buyer_uid) VALUES (?)", 50*n, 2*n, 3_000_000),
			},
			Others: meter.Figures{Text: meter.Others, Count: 10 * n, TotalMs: float64(10 * n), Times: []meter.Times{{UpToNs: 1_000_000, Count: 10 * n}}},
		}
	}
}

// elsewhere maps each command that no transcript runs to the test that runs it.
var elsewhere = map[string]string{
	"locus demo":             "test/demo runs it.",
	"locus serve":            "test/demo runs it.",
	"locus switchover":       "test/switchover does what it orders.",
	"locus rejoin":           "test/switchover does what it orders.",
	"locus backup":           "test/switchover copies shards and brings them to its moment.",
	"locus restore":          "test/switchover copies shards and brings them to its moment.",
	"locus config reference": "It prints config/reference.yaml, which a test holds to the fields.",
	"locus man":              "TestManPages runs it.",
	"locus version":          "What it prints differs from build to build.",
}

// referenceHead describes what all commands have in common.
const referenceHead = `# Commands

<!-- Written by go test ./cmd/locus -run TestReference -update. -->

Commands find the cluster, and the passwords of its shards, by the configuration of a process: ` + "`-c locus.yaml`" + `, or once for a shell
` + "`export LOCUS_CONFIG=/etc/locus/locus.yaml`" + `. ` + "`--etcd` and `--cluster` (`LOCUS_ETCD`, `LOCUS_CLUSTER`)" + ` replace what the configuration has. Without a
configuration they are enough only for commands that don't ask shards.

Commands that change which server applications use, that stop a process, or that destroy something ask first: ` + "`cutover`, `rollback`, `finish`,\n`abort`, `switchover`, `proxies drain`" + ` and others. ` + "`--yes`" + ` answers the question. Without a terminal, as in a script, they refuse unless it is given.

The examples are output of tests, with words like ` + "`${CONFIG}`" + ` for what differs: files, addresses. The flags of all commands are at the end.
`

// TestReference holds docs/reference/cli.md to the commands, and has each show an
// example that a test runs: the first in the transcripts.
func TestReference(t *testing.T) {
	examples := map[string]string{}
	for _, name := range []string{"commands", "apply", "offline", "doctor.mariadb", "table", "shard", "advise"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		collect(examples, string(text))
	}
	var b strings.Builder
	b.WriteString(referenceHead)
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	root.InitDefaultCompletionCmd()
	b.WriteString("\n| command | does |\n| --- | --- |\n")
	for _, c := range leaves(root) {
		path := c.CommandPath()
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", path, strings.ReplaceAll(path, " ", "-"), strings.TrimSuffix(c.Short, "."))
	}
	for _, c := range leaves(root) {
		path := c.CommandPath()
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n", path, strings.TrimSuffix(c.Short, "."))
		if c.Long != "" && !strings.HasPrefix(path, "locus completion") {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Long))
		}
		fmt.Fprintf(&b, "\n```\n%s\n```\n", c.UseLine())
		if flags := strings.TrimRight(c.NonInheritedFlags().FlagUsages(), "\n"); flags != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", flags)
		}
		switch example, why := examples[path], elsewhere[path]; {
		case example != "":
			fmt.Fprintf(&b, "\n```console\n%s```\n", example)
		case why != "":
			fmt.Fprintf(&b, "\n```console\n%s\n```\n", strings.TrimSpace(strings.ReplaceAll("\n"+c.Example, "\n  ", "\n$ ")))
		case !strings.HasPrefix(path, "locus completion"):
			t.Errorf("no test runs an example of %s", path)
		}
	}
	fmt.Fprintf(&b, "\n## All commands\n\n```\n%s```\n", root.PersistentFlags().FlagUsages())
	compare(t, filepath.Join("..", "..", "docs", "reference", "cli.md"), b.String())
}

// collect notes the first example of each command.
func collect(examples map[string]string, text string) {
	last := ""
	for line := range strings.Lines(text) {
		switch sign, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " "); sign {
		case "$":
			last = ""
			words := strings.Fields(rest)
			for n := min(3, len(words)); n > 1; n-- {
				path := strings.Join(words[:n], " ")
				if n == 3 && !slices.Contains([]string{"routes", "proxies", "keys", "id", "config", "completion", "user", "table", "shard", "documents", "sessions", "findings"}, words[1]) {
					continue
				}
				if examples[path] == "" {
					last = path
					examples[path] = line
				}
				break
			}
		case "|":
			if last != "" {
				examples[last] += rest + "\n"
			}
		case "!", "exit":
			if last != "" { // an error is no example
				delete(examples, last)
				last = ""
			}
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if golden.Update(t, path, got) {
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s is not what the commands say (%v): go test ./cmd/locus -run TestReference -update", path, err)
	}
}

// The placeholder of a flag's value describes it. It is neither a type of Go nor one of the possible values.
func TestPlaceholders(t *testing.T) {
	types := []string{"string", "int", "uint", "uint32", "uint64", "float", "float64", "duration", "strings", "ff1", "load", "pause", "long", "many", "how many"}
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	for _, c := range leaves(root) {
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if word, _ := pflag.UnquoteUsage(f); slices.Contains(types, word) || strings.Contains(word, " ") {
				t.Errorf("%s --%s %s", c.CommandPath(), f.Name, word)
			}
		})
	}
}

// Help shows every command in a group.
func TestHelpIsGrouped(t *testing.T) {
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.GroupID == "" {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// fakeSessions returns the sessions of a proxy.
func fakeSessions() []sysvars.Process {
	database, text := "shop", "UPDATE test_order SET note = 'fragile' WHERE buyer_uid = 7 AND order_id = 4503599627370497"
	return []sysvars.Process{
		{ID: 12, User: "app", Host: "10.0.0.7:51234", Command: "Sleep", Time: 31, State: "transaction", DB: &database},
		{ID: 17, User: "app", Host: "10.0.0.8:40110", Command: "Query", Time: 8, State: "updating", DB: &database, Info: &text},
	}
}
