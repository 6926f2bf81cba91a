package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// mostOfShards is the target for the time of a definition with many shards and proxies, as a multiple of the
// time with few. The servers' own time is subtracted from both.
const mostOfShards = 2.0

// definitionShardsRow compares definitions of sharded tables on 2 shards with one proxy and on 12 with three.
func definitionShardsRow(engine string) row {
	return row{"definition shards, " + engine, func(ctx context.Context, s *stand, r *report) error {
		kinds := slices.DeleteFunc(slices.Clone(timedDefinitions), func(d timedDefinition) bool { return !d.sharded })
		few, err := beyondServers(ctx, s.options, engine, kinds, 2, 1)
		if err != nil {
			return err
		}
		many, err := beyondServers(ctx, s.options, engine, kinds, 12, 3)
		if err != nil {
			return err
		}
		for i, kind := range kinds {
			ratio := many[i].beyond() / few[i].beyond()
			r.figures = append(r.figures, figure{
				name: engine + ": " + kind.name + ": 12 shards and 3 proxies ÷ 2 and 1", value: single(ratio), judged: ratio, digits: 2,
				bound: bound{atMost, mostOfShards, mostOfShards}, of: ofDefinitions,
				detail: fmt.Sprintf("%.1f ms, of which servers %.1f; %.1f ms, of which servers %.1f", many[i].through, many[i].servers, few[i].through, few[i].servers),
			})
		}
		return nil
	}}
}

// shardTimes are medians of one kind of definitions, in milliseconds.
type shardTimes struct {
	through float64 // a proxy
	servers float64 // the same on all servers at once
}

func (t shardTimes) beyond() float64 { return t.through - t.servers }

func beyondServers(ctx context.Context, o options, engine string, kinds []timedDefinition, shards, proxies int) (times []shardTimes, err error) {
	m, err := newMoves(ctx, o, engine, 0, "--shards", strconv.Itoa(shards), "--proxies", strconv.Itoa(proxies))
	if err != nil {
		return nil, err
	}
	defer m.close()
	d, err := newDefining(ctx, m)
	if err != nil {
		return nil, err
	}
	defer d.close()
	for _, kind := range kinds {
		var through, direct []float64
		for i := range definitionRounds {
			if err := since(&through, func() error { _, err := d.proxy.Execute(fmt.Sprintf(kind.through, i, "proxy")); return err }); err != nil {
				return nil, fmt.Errorf("%s: %w", kind.name, err)
			}
			if err := since(&direct, func() error { return d.everywhere(fmt.Sprintf(kind.direct, i, "direct")) }); err != nil {
				return nil, fmt.Errorf("%s: %w", kind.name, err)
			}
		}
		times = append(times, shardTimes{spreadOf(through).median, spreadOf(direct).median})
	}
	return times, nil
}

// everywhere runs a statement on all servers at once, past the proxies.
func (d *defining) everywhere(text string) error {
	errs := make([]error, len(d.shards))
	var running sync.WaitGroup
	for i, shard := range d.shards {
		running.Go(func() { _, errs[i] = shard.Execute(text) })
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
