package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"
)

const (
	outageShards = 3
	// outageStall is the product's default: for how long a server is silent before it counts as frozen.
	outageStall = 5 * time.Second
	// outagePatience is the time after which something counts as never ending.
	outagePatience = time.Minute
	// outagePace is the time between two statements of a client. It keeps the load so low that waiting
	// statements don't make room for others.
	outagePace = 5 * time.Millisecond
)

// outageRow measures the effect of a frozen server: in a demo with three shards each server is frozen in turn,
// under load.
func outageRow(engine string) row {
	return row{"outages, " + engine, func(ctx context.Context, s *stand, r *report) error {
		o, err := newOutages(ctx, s.options, engine)
		if err != nil {
			return err
		}
		defer o.close()
		var all []outage
		for round := range max(o.rounds, outageShards) {
			one, err := o.strike(ctx, round%outageShards)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		r.figures = append(r.figures, outageFigures(engine, all)...)
		return nil
	}}
}

// outages is a demo whose servers are stopped.
type outages struct {
	options
	ready  ready
	buyers [outageShards]int64 // one of each shard
	undo   []func()

	prometheus *prometheus
}

func newOutages(ctx context.Context, o options, engine string) (_ *outages, err error) {
	s, dir, err := startShards(ctx, o, engine)
	if err != nil {
		return nil, err
	}
	if s.prometheus, err = startPrometheus(ctx, dir, s.ready.HTTP); err != nil {
		s.close()
		return nil, err
	}
	s.undo = append(s.undo, s.prometheus.stop)
	return s, nil
}

// startShards starts this demo with an order on each shard. Its files are in dir.
func startShards(ctx context.Context, o options, engine string) (_ *outages, dir string, err error) {
	s := &outages{options: o}
	s.options.engine, s.options.ready = engine, ""
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if dir, err = os.MkdirTemp("", "locus-bench-outages-"); err != nil {
		return nil, "", err
	}
	s.undo = append(s.undo, func() { _ = os.RemoveAll(dir) })
	r, demo, err := startDemo(ctx, s.options, filepath.Clean(dir), "--shards", fmt.Sprint(outageShards))
	if err != nil {
		return nil, "", err
	}
	s.ready = r
	s.undo = append(s.undo, func() { demo.stop(demoStopPatience) })
	return s, dir, s.findBuyers()
}

func (s *outages) close() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		s.undo[i]()
	}
}

// findBuyers inserts orders until each shard has one, and reads the buyers from the servers.
func (s *outages) findBuyers() error {
	at := s.ready.proxy(0)
	through, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		return err
	}
	defer through.Close()
	for found, uid := 0, firstWriter; found < outageShards; uid++ {
		if _, err := through.Execute(fmt.Sprintf("INSERT INTO test_order (buyer_uid, amount, status) VALUES (%d, 1, 'new')", uid)); err != nil {
			return err
		}
		shard, err := s.shardOf(uid)
		if err != nil {
			return err
		}
		if s.buyers[shard] == 0 {
			s.buyers[shard], found = uid, found+1
		}
	}
	return nil
}

func (s *outages) shardOf(uid int64) (int, error) {
	for i, shard := range s.ready.Shards {
		at := shard.endpoint()
		c, err := client.Connect(at.addr, at.user, at.password, at.database)
		if err != nil {
			return 0, err
		}
		answer, err := c.Execute(fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d", uid))
		_ = c.Close()
		if err != nil {
			return 0, err
		}
		if n, _ := answer.GetInt(0, 0); n > 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("the order of buyer %d is on no shard", uid)
}

// outage contains the effects of one frozen server.
type outage struct {
	shard          string
	failed, wrong  int   // statements that don't need it, and errors of others that don't name it
	why            error // the last of these
	before, during []time.Duration
	checked        time.Duration // the slowest question that any shard could answer
	fails, heals   time.Duration
	told           told
}

// strike freezes a shard's server until all clients that need it have failed, and then continues it.
func (s *outages) strike(ctx context.Context, shard int) (outage, error) {
	one := outage{shard: s.ready.Shards[shard].Name}
	loading, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	clients := s.clients(shard)
	for _, c := range clients {
		running.Go(func() { c.run(loading) })
	}
	if err := sleep(ctx, 2*time.Second); err != nil { // so that caches are filled
		return one, err
	}
	_, _ = taken(clients, rowsElsewhere), taken(clients, rowsNowhere)
	if err := sleep(ctx, max(3*time.Second, s.length)); err != nil {
		return one, err
	}
	one.before = taken(clients, rowsElsewhere)
	_ = taken(clients, rowsNowhere)
	pid := s.ready.Shards[shard].PID
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return one, fmt.Errorf("stop the server of %s: %w", one.shard, err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	stopped := time.Now()
	var err error
	if one.told, err = s.told(ctx, one.shard, stopped); err != nil {
		return one, err
	}
	if err := each(ctx, clients, func(c *outageClient) bool { return c.failedAt.Load() > 0 }); err != nil {
		return one, fmt.Errorf("after %s was stopped: %w", one.shard, err)
	}
	for _, c := range clients {
		if c.of == rowsThere {
			one.fails = max(one.fails, time.Unix(0, c.failedAt.Load()).Sub(stopped))
		}
	}
	if err := sleep(ctx, max(3*time.Second, s.length)); err != nil { // so that all processes notice that it is back
		return one, err
	}
	one.during = taken(clients, rowsElsewhere)
	if times := taken(clients, rowsNowhere); len(times) > 0 {
		one.checked = times[len(times)-1]
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		return one, err
	}
	goesOn := time.Now()
	for _, c := range clients {
		c.succeededAt.Store(0)
	}
	if err := each(ctx, clients, func(c *outageClient) bool { return c.succeededAt.Load() > 0 }); err != nil {
		return one, fmt.Errorf("after %s went on: %w", one.shard, err)
	}
	if err := sleep(ctx, 2*time.Second); err != nil { // time in which clients would see further failures
		return one, err
	}
	for _, c := range clients {
		c.judge(&one, goesOn)
	}
	return one, nil
}

// each waits until something holds for all clients of the shard that is stopped.
func each(ctx context.Context, clients []*outageClient, holds func(*outageClient) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, outagePatience, errors.New("a client of that shard hangs"))
	defer cancel()
	for _, c := range clients {
		for c.of == rowsThere && !holds(c) {
			if err := sleep(ctx, time.Millisecond); err != nil {
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// needs is on which shards the rows of a client's statements are.
type needs int

const (
	rowsElsewhere needs = iota // on shards other than the stopped one
	rowsThere
	rowsNowhere // any shard can answer
)

// outageClient repeats a statement on one connection.
type outageClient struct {
	timing
	of    needs
	texts []string
	at    endpoint
	shard string // that is stopped

	failedAt, succeededAt atomic.Int64 // the first failure, and the first success since it was set to 0
	lastFailure           atomic.Int64
	wrong                 atomic.Pointer[error] // an error that doesn't name the shard
}

// clients returns clients of all shards, at all proxies.
func (s *outages) clients(stopped int) (all []*outageClient) {
	add := func(of needs, texts ...string) {
		for i := range s.ready.Proxies {
			all = append(all, &outageClient{of: of, texts: texts, at: s.ready.proxy(i), shard: s.ready.Shards[stopped].Name})
		}
	}
	for shard, uid := range s.buyers {
		of := rowsElsewhere
		if shard == stopped {
			of = rowsThere
		}
		add(of, fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d", uid))
		add(of, fmt.Sprintf("UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = %d", uid))
	}
	add(rowsThere, fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid >= %d", firstWriter))
	add(rowsNowhere, "SELECT 1", "SELECT @@version_comment LIMIT 1", "SELECT COUNT(*) FROM product")
	return all
}

// run repeats the statement until ctx ends. It logs in again when the connection is lost.
func (c *outageClient) run(ctx context.Context) {
	var conn *client.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close()
		}
	}()
	for n := 0; ctx.Err() == nil; n++ {
		began := time.Now()
		var err error
		if conn == nil {
			conn, err = client.Connect(c.at.addr, c.at.user, c.at.password, c.at.database)
		}
		if err == nil {
			_, err = conn.Execute(c.texts[n%len(c.texts)])
		}
		c.saw(began, err)
		if _, refused := errors.AsType[*mysql.MyError](err); err != nil && !refused && conn != nil {
			_ = conn.Close()
			conn = nil
		}
		if sleep(ctx, outagePace) != nil {
			return
		}
	}
}

// saw records the outcome of a statement.
func (c *outageClient) saw(began time.Time, err error) {
	now := time.Now()
	c.add(now.Sub(began), err)
	if err == nil {
		c.succeededAt.CompareAndSwap(0, now.UnixNano())
		return
	}
	c.failedAt.CompareAndSwap(0, now.UnixNano())
	c.lastFailure.Store(now.UnixNano())
	if refused, is := errors.AsType[*mysql.MyError](err); !is || refused.Code != 1158 || !strings.Contains(refused.Message, "shard "+c.shard) {
		c.wrong.Store(&err)
	}
}

// judge adds up how it fared.
func (c *outageClient) judge(one *outage, goesOn time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != rowsThere {
		if one.failed += c.failed; c.failed > 0 {
			one.why = c.why
		}
		return
	}
	if wrong := c.wrong.Load(); wrong != nil {
		one.wrong++
		one.why = *wrong
	}
	for _, at := range []int64{c.succeededAt.Load(), c.lastFailure.Load()} {
		one.heals = max(one.heals, time.Unix(0, at).Sub(goesOn))
	}
}

// taken returns the sorted times of the clients of one kind since the last call.
func taken(clients []*outageClient, of needs) []time.Duration {
	var all timing
	for _, c := range clients {
		if c.of == of {
			all.times = append(all.times, c.take()...)
		}
	}
	return all.take()
}

func outageFigures(engine string, all []outage) []figure {
	var ratios, fails, heals, checked, looked, alerted []float64
	var names []string
	failed, wrong, why := 0, 0, ""
	before, during, asked := 0.0, 0.0, 0
	for _, one := range all {
		names = append(names, one.shard)
		b, d := quantile(one.before, 0.99), quantile(one.during, 0.99)
		ratios = append(ratios, float64(d)/float64(b))
		before, during, asked = max(before, b.Seconds()*1000), max(during, d.Seconds()*1000), asked+len(one.during)
		fails, heals, checked = append(fails, one.fails.Seconds()), append(heals, one.heals.Seconds()), append(checked, one.checked.Seconds())
		looked, alerted = append(looked, max(one.told.state, one.told.metric).Seconds()), append(alerted, one.told.alert.Seconds())
		failed, wrong = failed+one.failed, wrong+one.wrong
		if one.why != nil {
			why = ": " + one.why.Error()
		}
	}
	most := (outageStall + time.Second).Seconds()
	turns := "in turn stopped: " + strings.Join(names, ", ")
	ratio := spreadOf(ratios)
	worst := func(name string, values []float64, within bound, detail string) figure {
		s := spreadOf(values)
		return figure{name: engine + ": " + name, value: s, judged: s.most, unit: "s", digits: 1, bound: within, detail: detail, of: ofOutages}
	}
	return []figure{
		{
			name: engine + ": statements that failed and don't need the frozen shard", value: single(float64(failed)), judged: float64(failed),
			bound: bound{atMost, 0, 0}, detail: fmt.Sprintf("of %d; %s%s", asked, turns, why), of: ofOutages,
		},
		{
			name: engine + ": clients that were told another error than 1158 with the shard's name", value: single(float64(wrong)), judged: float64(wrong),
			bound: bound{atMost, 0, 0}, detail: "reads, writes, and counts over all shards", of: ofOutages,
		},
		{
			name: engine + ": other shards' p99 while it is frozen ÷ before", value: ratio, judged: ratio.median, digits: 2, bound: bound{atMost, 1.2, 1.2},
			detail: fmt.Sprintf("at most %.1f ms before and %.1f ms during, from the stop on", before, during), of: ofOutages,
		},
		worst("until all that need it have failed", fails, bound{atMost, most, most}, "after the stop; `stall` is 5 s"),
		worst("until who looks at the cluster is told", looked, bound{atMost, 3, 3}, "`/v1/state`, which the page's title and `locus status` are made of, and `/metrics`"),
		worst("until the alert fires", alerted, bound{atMost, 3, 3}, "`"+alertUnwell+"`, in a Prometheus that has `"+scraping+"`"),
		worst("the slowest answer that any shard could give", checked, bound{atMost, most, 2.5}, "`SELECT 1`, a variable, a global table; from the stop on"),
		worst("until all is well", heals, bound{atMost, 3, 3}, "after it goes on: the last failure, or the first success of each client"),
	}
}
