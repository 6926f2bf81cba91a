package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"locus/control/events"
	"locus/internal/test/servers"
	"locus/migrate/phase"
	"locus/test/cluster"
	"locus/test/product"
)

func TestMain(m *testing.M) { cluster.Main(m, nil) }

// stand is a cluster of which the test reads the timeline.
type stand struct {
	*cluster.Cluster
	t *testing.T
}

// read returns the timeline, the earliest event first, in short.
func (s *stand) read(args ...string) (list []string) {
	s.t.Helper()
	var answer struct{ Events []events.View }
	if err := json.Unmarshal([]byte(s.MustLocus(append([]string{"events", "--limit", "1000", "-o", "json"}, args...)...)), &answer); err != nil {
		s.t.Fatal(err)
	}
	for _, e := range slices.Backward(answer.Events) {
		mark := ""
		if e.Failed {
			mark = "! "
		}
		what, _, _ := strings.Cut(e.What, ": ")
		subject := e.Subject
		if e.Kind == events.Process || e.Kind == events.Drain {
			subject = "process"
		}
		list = append(list, fmt.Sprintf("%s%s %s: %s", mark, e.Kind, subject, what))
	}
	return list
}

// await waits until the timeline has an event for which is reports true.
func (s *stand) await(what string, is func(e string) bool) {
	s.t.Helper()
	product.Eventually(s.t, what, func() bool { return slices.ContainsFunc(s.read(), is) })
}

// inOrder reports the first of the wanted events that the timeline does not have after those before it.
func inOrder(list, want []string) (missing string) {
	at := 0
	for _, w := range want {
		found := slices.IndexFunc(list[at:], func(e string) bool { return strings.HasPrefix(e, w) })
		if found < 0 {
			return w
		}
		at += found + 1
	}
	return ""
}

// TestTheTimeline splits a shard, changes a table, drains a process, kills one, and restarts all of them and etcd. Every event is in the timeline, once, in the order
// in which it happened, and stays there.
func TestTheTimeline(t *testing.T) {
	c := cluster.Start(t, servers.MariaDB, cluster.Options{
		Shards: 2, Spare: 1, SQL: []string{cluster.CountersSQL}, Tables: cluster.CountersTables,
	})
	s := &stand{Cluster: c, t: t}
	one, two := c.Serve("one"), c.Serve("two")
	s.await("two processes have started", func(string) bool {
		return len(slices.DeleteFunc(s.read("--kind", "process"), func(e string) bool { return !strings.Contains(e, "started") })) == 2
	})
	db := cluster.Open(cluster.Config(one.Addr))
	defer db.Close()
	for _, statement := range []string{
		"ALTER TABLE shop.counter ADD COLUMN price INT DEFAULT 471147114", "CREATE TABLE IF NOT EXISTS shop.counter (id INT)",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	s.await("the definition", func(e string) bool { return strings.HasPrefix(e, "definition") })
	c.MustLocus("split", "--from", "s0", "--to", "s2", "--half")
	c.AwaitPhase("split-1", phase.Ready)
	c.MustLocus("cutover", "split-1", "--to", "100%", "--step", "50%", "--every", "100ms", "--yes")
	c.AwaitPhase("split-1", phase.Cut)
	c.MustLocus("rollback", "split-1", "--yes")
	c.AwaitPhase("split-1", phase.Ready)
	c.MustLocus("cutover", "split-1", "--to", "100%", "--yes")
	c.AwaitPhase("split-1", phase.Cut)
	c.MustLocus("finish", "split-1", "--yes")
	c.AwaitPhase("split-1", phase.Done)
	c.MustLocus("user", "remove", cluster.User, "--dry-run")
	c.MustLocus("proxies", "drain", two.Addr, "--yes")
	if err := two.Exit(t); err != nil {
		t.Fatal(err)
	}
	s.await("two has stopped", func(e string) bool { return e == "process process: stopped" })
	two.Start(t)
	two.AwaitReady(t)
	one.Kill() // without a word
	s.await("one is missed", func(e string) bool { return strings.HasPrefix(e, "! process process: was lost") })

	before := s.read()
	if missing := inOrder(before, []string{
		"declaration cluster: settings declared",
		"process process: started", "process process: started",
		"definition table shop.counter: made on s0, s1, s2",
		"job job split-1: split of", "job job split-1: announced", "job job split-1: copied → catching-up", "job job split-1: caught up → verifying", "job job split-1: verified → ready",
		"job job split-1: cutover", "job job split-1: 8192 of 16384 genes at s2 (50 %)", "job job split-1: 16384 of 16384 genes at s2 (100 %) → cut",
		"job job split-1: rollback", "job job split-1: 0 of 16384 genes at s2 (0 %) → ready", "job job split-1: cutover", "job job split-1: 16384 of 16384 genes at s2 (100 %) → cut",
		"job job split-1: finish → retiring", "job job split-1: retired → done",
		"drain process: was requested to stop", "drain process: stops", "process process: stopped", "process process: started", "! process process: was lost",
	}); missing != "" {
		t.Errorf("%s is missing, or not in its place:\n%s", missing, strings.Join(before, "\n"))
	}
	for prefix, want := range map[string]int{"definition": 1, "drain": 2, "! ": 1, "process": 4} {
		if n := len(slices.DeleteFunc(slices.Clone(before), func(e string) bool { return !strings.HasPrefix(e, prefix) })); n != want {
			t.Errorf("%d events %s, want %d:\n%s", n, prefix, want, strings.Join(before, "\n"))
		}
	}
	journal, err := c.Jobs.Read(t.Context(), "split-1")
	if err != nil {
		t.Fatal(err)
	}
	if list := s.read("--kind", "job"); len(list) != len(journal.Job.Journal) {
		t.Errorf("%d events of the job, and its journal has %d lines:\n%s", len(list), len(journal.Job.Journal), strings.Join(list, "\n"))
	}

	two.Signal(t, syscall.SIGTERM)
	if err := two.Exit(t); err != nil {
		t.Fatal(err)
	}
	c.Etcd.Kill()
	c.Etcd.Start()
	one.Start(t)
	two.Start(t)
	one.AwaitReady(t)
	two.AwaitReady(t)
	s.await("all have started again", func(string) bool {
		return len(slices.DeleteFunc(s.read("--kind", "process"), func(e string) bool { return !strings.Contains(e, "started") })) == 5
	})
	after := s.read()
	if !slices.Equal(after[:len(before)], before) {
		t.Errorf("after all have restarted, the timeline is\n%s\nand it was\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	second := cluster.Open(cluster.Config(two.Addr))
	defer second.Close()
	var phases, failed int
	if err := second.QueryRow("SELECT SUM(kind = 'job' AND what LIKE '%→%'), SUM(failed) FROM locus.events").Scan(&phases, &failed); err != nil || phases != 12 || failed != 1 {
		t.Errorf("locus.events has %d changes of phases, and %d failures: %v", phases, failed, err)
	}
	if text := c.MustLocus("events", "--limit", "1000", "-o", "json"); strings.Contains(text, "471147114") {
		t.Error("the timeline has a literal of a statement")
	}
	for line := range strings.Lines(c.MustLocus("events", "--since", "1h")) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("a line has more than 80 characters: %s", line)
		}
	}
}
