package cluster

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/internal/test/link"
	"locus/migrate/cutover"
	"locus/migrate/phase"
)

// setting are the commands that start things.
var setting = []command{
	{form: "start COUNT shards, GENES with genes, and PROXIES proxies", what: "starts a cluster with a table shop.counter", do: func(r *run, args ...string) { r.start(args, false) }},
	{form: "start COUNT shards, GENES with genes, and PROXIES proxies with links", what: "the same; connections to shards and etcd can be cut and slowed", do: func(r *run, args ...string) { r.start(args, true) }},
	{form: "run COUNT clients", what: "starts clients that add 1 to rows of shop.counter and read them", do: func(r *run, args ...string) {
		r.clients = r.cluster.RunCounters(r.number(args[0]))
	}},
}

// acting are the commands that do something to the cluster.
var acting = []command{
	{form: "locus REST", what: "runs a command of locus, which must succeed", do: func(r *run, args ...string) { r.cluster.MustLocus(words(args[0])...) }},
	{form: "sql REST", what: "runs a statement through the first proxy", do: func(r *run, args ...string) {
		if _, err := r.cluster.DB(0).ExecContext(r.t.Context(), args[0]); err != nil {
			r.t.Fatalf("%s: %v", args[0], err)
		}
	}},
	{form: "wait until JOB is PHASE", what: "waits for a phase of a job", do: func(r *run, args ...string) { r.cluster.AwaitPhase(args[0], phase.Phase(args[1])) }},
	{form: "wait for COUNT writes", what: "waits until clients have had so many more writes acknowledged", do: func(r *run, args ...string) { r.clients.More(r.number(args[0])) }},
	{form: "stop the mover at POINT", what: "stops the process that runs the job when it next comes to the point; one of " + strings.Join(cutover.Points, ", "), do: func(r *run, args ...string) {
		r.point = args[0]
		for _, p := range r.cluster.Proxies {
			p.StopAt(args[0])
		}
	}},
	{form: "wait for the mover", what: "waits until the mover has stopped there", do: func(r *run, _ ...string) { r.awaitMover() }},
	{form: "release the mover", what: "lets the mover go on from there", do: func(r *run, _ ...string) { r.mover.Release() }},
	{form: "kill WHAT", what: "kills a process: mover, etcd, shard s0, proxy 0", do: func(r *run, args ...string) { r.part(args[0]).Kill() }},
	{form: "kill WHAT NAME", do: func(r *run, args ...string) { r.part(args...).Kill() }},
	{form: "start the WHAT", what: "starts the killed mover again", do: func(r *run, args ...string) { r.part(args[0]).Start() }},
	{form: "start WHAT", what: "starts a killed process again", do: func(r *run, args ...string) { r.part(args[0]).Start() }},
	{form: "start WHAT NAME", do: func(r *run, args ...string) { r.part(args...).Start() }},
	{form: "freeze WHAT", what: "suspends a process; its connections stay open", do: func(r *run, args ...string) { r.part(args[0]).Stop() }},
	{form: "freeze WHAT NAME", do: func(r *run, args ...string) { r.part(args...).Stop() }},
	{form: "thaw WHAT", what: "ends freeze", do: func(r *run, args ...string) { r.part(args[0]).Continue() }},
	{form: "thaw WHAT NAME", do: func(r *run, args ...string) { r.part(args...).Continue() }},
	{form: "cut etcd", what: "breaks all connections to etcd, and lets no new one through", do: func(r *run, _ ...string) { r.link("etcd").Lead("") }},
	{form: "cut shard NAME", what: "the same of a shard", do: func(r *run, args ...string) { r.link("shard", args[0]).Lead("") }},
	{form: "slow shard NAME by TIME", what: "delays each piece of the shard's answers", do: func(r *run, args ...string) { r.link("shard", args[0]).Delay(r.duration(args[1])) }},
	{form: "join etcd", what: "ends cut", do: func(r *run, _ ...string) { r.link("etcd").Lead(r.cluster.Etcd.Addr()) }},
	{form: "join shard NAME", what: "ends cut and slow", do: func(r *run, args ...string) {
		l := r.link("shard", args[0])
		l.Delay(0)
		l.Lead(r.shard(args[0]).Addr())
	}},
}

// expecting are the commands that fail the test if something isn't so.
var expecting = []command{
	{form: "expect JOB is PHASE", what: "the job is in the phase now", do: func(r *run, args ...string) {
		s, err := r.cluster.Jobs.Read(r.t.Context(), args[0])
		if err != nil || s.Job.State.Phase != phase.Phase(args[1]) {
			r.t.Errorf("job %s: %v, %v", args[0], s.Job.State, err)
		}
	}},
	{form: "expect that locus REST", what: "ARGS fails with TEXT: the command fails, and prints the text", do: func(r *run, args ...string) { r.expectRefusal(args[0]) }},
	{form: "expect rows on shard NAME", what: "the shard has rows of shop.counter", do: func(r *run, args ...string) { r.expectRows(args[0], true) }},
	{form: "expect no rows on shard NAME", what: "the shard has none", do: func(r *run, args ...string) { r.expectRows(args[0], false) }},
	{form: "expect COUNT from REST", what: "a query through the first proxy returns the value", do: func(r *run, args ...string) {
		var got string
		if err := r.cluster.DB(0).QueryRowContext(r.t.Context(), args[1]).Scan(&got); err != nil || got != args[0] {
			r.t.Errorf("%s returns %s, %v; want %s", args[1], got, err, args[0])
		}
	}},
	{form: "expect no errors", what: "no statement of a client has failed", do: func(r *run, _ ...string) { r.clients.NothingFailed(r.t) }},
	{form: "expect no lost writes", what: "ends the clients; each acknowledged write is there once, and no row twice", do: func(r *run, _ ...string) { r.clients.Check(r.t) }},
}

func (r *run) start(args []string, linked bool) {
	r.t.Helper()
	all, owning := r.number(args[0]), r.number(args[1])
	r.cluster = Start(r.t, r.engine, Options{
		Shards: owning, Spare: all - owning, Proxies: r.number(args[2]), Linked: linked,
		SQL: []string{CountersSQL}, Tables: CountersTables, ServerArgs: []string{"--innodb-lock-wait-timeout=2"},
	})
	r.cluster.StartProxies()
}

func (r *run) number(text string) int {
	r.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		r.t.Fatalf("%q is no number", text)
	}
	return n
}

func (r *run) duration(text string) time.Duration {
	r.t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

// words splits a command line. Quotes keep words together.
func words(line string) (list []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}

// part is a process that a script can control.
type part interface {
	Kill()
	Start()
	Stop()
	Continue()
}

func (r *run) part(words ...string) part {
	r.t.Helper()
	switch {
	case len(words) == 1 && words[0] == "etcd":
		return r.cluster.Etcd
	case words[0] == "mover":
		if r.mover == nil {
			r.t.Fatal("the mover has not stopped at a point: use \"stop the mover at\" and \"wait for the mover\"")
		}
		return r.mover
	case len(words) == 2 && words[0] == "the":
		return r.part(words[1])
	case len(words) == 2 && words[0] == "shard":
		return r.shard(words[1])
	case len(words) == 2 && words[0] == "proxy":
		if i := r.number(words[1]); i < len(r.cluster.Proxies) {
			return r.cluster.Proxies[i]
		}
	}
	r.t.Fatalf("there is no %q: name the mover, etcd, a shard or a proxy", strings.Join(words, " "))
	return nil
}

func (r *run) shard(name string) *Shard {
	r.t.Helper()
	for _, s := range r.cluster.Shards {
		if string(s.Name) == name {
			return s
		}
	}
	r.t.Fatalf("there is no shard %s", name)
	return nil
}

func (r *run) link(words ...string) *link.Link {
	r.t.Helper()
	l := r.cluster.Etcd.Link
	if words[0] == "shard" {
		l = r.shard(words[1]).Link
	}
	if l == nil {
		r.t.Fatal("the cluster was started without links")
	}
	return l
}

// awaitMover also disarms the other processes, and lets those go on that ran the job just before and stopped as well.
func (r *run) awaitMover() {
	r.t.Helper()
	r.mover, _ = r.cluster.AwaitPoint(r.point)
	for _, p := range r.cluster.Proxies {
		if p != r.mover {
			p.StopAt("nowhere")
			p.Release()
		}
	}
}

func (r *run) expectRefusal(text string) {
	r.t.Helper()
	args, want, is := strings.Cut(text, " fails with ")
	if !is {
		r.t.Fatalf("%q does not say with which text the command fails", text)
	}
	if out, err := r.cluster.Locus(words(args)...); err == nil || !strings.Contains(out, want) {
		r.t.Errorf("locus %s: %v, want %q\n%s", args, err, want, out)
	}
}

func (r *run) expectRows(name string, want bool) {
	r.t.Helper()
	counts := map[string]int{}
	r.cluster.All(r.t, "SELECT COUNT(*) FROM counter", func(shard int, rows *sql.Rows) error {
		var n int
		err := rows.Scan(&n)
		counts[fmt.Sprintf("s%d", shard)] = n
		return err
	})
	if n := counts[name]; (n > 0) != want {
		r.t.Errorf("shard %s has %d rows of shop.counter", name, n)
	}
}
