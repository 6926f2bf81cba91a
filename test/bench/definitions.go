package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// mostWait is the longest that a statement on a shard with a held table may wait behind one attempt to lock it,
// which takes one second.
const mostWait = 2 * time.Second

// definitions are run in order, each while a transaction holds the table on one shard. The last one reverts the
// first.
var definitions = []struct{ name, text string }{
	{"ADD COLUMN", "ALTER TABLE test_order ADD COLUMN bench_note VARCHAR(10) NULL"},
	{"MODIFY", "ALTER TABLE test_order MODIFY COLUMN bench_note VARCHAR(20) NULL"},
	{"CHANGE", "ALTER TABLE test_order CHANGE COLUMN bench_note bench_text VARCHAR(20) NULL"},
	{"ADD INDEX", "ALTER TABLE test_order ADD INDEX bench_text (bench_text)"},
	{"DROP COLUMN", "ALTER TABLE test_order DROP COLUMN bench_text"},
}

// definitionsRow measures definitions through a proxy under load, while a transaction holds the table on one of
// three shards.
func definitionsRow(engine string) row {
	return row{"definitions, " + engine, func(ctx context.Context, s *stand, r *report) error {
		o, _, err := startShards(ctx, s.options, engine)
		if err != nil {
			return err
		}
		defer o.close()
		var all []redefined
		for i, d := range definitions {
			one, err := o.redefine(ctx, i%outageShards, d.name, d.text)
			if err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
			all = append(all, one)
		}
		r.figures = append(r.figures, definitionFigures(engine, all)...)
		return nil
	}}
}

// redefined contains the effect of a definition on statements.
type redefined struct {
	name           string
	asked, failed  int
	why            error
	before, during []time.Duration // times on shards where no session holds the table
	there          time.Duration   // the longest time on the shard where a transaction holds it
	after          time.Duration   // until it was made, once the table was free
}

// redefine makes one definition while a reader holds the table on a shard.
func (s *outages) redefine(ctx context.Context, shard int, name, text string) (redefined, error) {
	one := redefined{name: name}
	loading, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() { stop(); running.Wait() }()
	// Those that count over all shards need the one that is held, too.
	clients := slices.DeleteFunc(s.clients(shard), func(c *outageClient) bool { return c.of == rowsNowhere })
	for _, c := range clients {
		running.Go(func() { c.run(loading) })
	}
	length := max(3*time.Second, s.length)
	if err := sleep(ctx, 2*time.Second); err != nil { // so that caches are filled
		return one, err
	}
	_, _ = taken(clients, rowsElsewhere), taken(clients, rowsThere)
	if err := sleep(ctx, length); err != nil {
		return one, err
	}
	one.before = taken(clients, rowsElsewhere)
	_ = taken(clients, rowsThere)
	free, err := s.holdTable(shard)
	if err != nil {
		return one, err
	}
	defer free()
	made := make(chan error, 1)
	running.Go(func() { made <- s.define(text) })
	if err := sleep(ctx, length); err != nil {
		return one, err
	}
	one.during = taken(clients, rowsElsewhere)
	free()
	freed := time.Now()
	select {
	case err := <-made:
		if err != nil {
			return one, err
		}
	case <-time.After(outagePatience):
		return one, fmt.Errorf("it is not made %v after the table was free", outagePatience)
	}
	one.after = time.Since(freed)
	if err := sleep(ctx, time.Second); err != nil { // time in which clients would see further failures
		return one, err
	}
	if times := taken(clients, rowsThere); len(times) > 0 {
		one.there = times[len(times)-1]
	}
	for _, c := range clients {
		c.mu.Lock()
		one.failed += c.failed
		if c.failed > 0 {
			one.why = c.why
		}
		c.mu.Unlock()
	}
	one.asked = len(one.during)
	return one, nil
}

// holdTable reads the table in a transaction on a shard, which free ends.
func (s *outages) holdTable(shard int) (free func(), err error) {
	at := s.ready.Shards[shard].endpoint()
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		return nil, err
	}
	for _, text := range []string{"BEGIN", "SELECT 1 FROM test_order LIMIT 1"} {
		if _, err := c.Execute(text); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return sync.OnceFunc(func() { _ = c.Close() }), nil
}

// define sends a definition to a proxy.
func (s *outages) define(text string) error {
	at := s.ready.proxy(0)
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Execute(text)
	return err
}

func definitionFigures(engine string, all []redefined) (figures []figure) {
	failed, asked, why := 0, 0, ""
	for _, one := range all {
		failed, asked = failed+one.failed, asked+one.asked
		if one.why != nil {
			why = "; " + one.name + ": " + one.why.Error()
		}
	}
	figures = append(figures, figure{
		name: engine + ": statements that failed", value: single(float64(failed)), judged: float64(failed), bound: bound{atMost, 0, 0},
		detail: fmt.Sprintf("of %d on other shards alone%s", asked, why), of: ofDefinitions,
	})
	for _, one := range all {
		b, d := quantile(one.before, 0.99), quantile(one.during, 0.99)
		ratio := float64(d) / float64(b)
		figures = append(figures,
			figure{
				name: engine + ": " + one.name + ": other shards' p99 while the table is held ÷ before", value: single(ratio), judged: ratio, digits: 2,
				bound: bound{atMost, 1.2, 1.2}, detail: fmt.Sprintf("%.1f ms before and %.1f ms during", b.Seconds()*1000, d.Seconds()*1000), of: ofDefinitions,
			},
			figure{
				name: engine + ": " + one.name + ": the longest wait on the shard where it is held", value: single(one.there.Seconds()), judged: one.there.Seconds(), unit: "s", digits: 1,
				bound: bound{atMost, mostWait.Seconds(), mostWait.Seconds()}, detail: fmt.Sprintf("made %.1f s after the table was free", one.after.Seconds()), of: ofDefinitions,
			})
	}
	return figures
}
