package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// undoPatience bounds each step of stopping a stand.
const undoPatience = time.Minute

// stand contains the parts that a measurement needs: a demo, haproxy in front of its first shard, and rows.
type stand struct {
	options
	ready   ready
	haproxy *haproxy
	shards  []readyShard // s0, and s1 if there is one
	before  lane         // with -before
	cast    cast
	fresh   *fresh
	facts   []string // that the report names
	out     io.Writer
	hasBig  bool     // the big buyer has its orders
	undo    []func() // in reverse order
}

// newStand starts the missing processes and inserts the rows. If it fails, it removes everything that it has
// started.
func newStand(ctx context.Context, o options, out io.Writer) (_ *stand, err error) {
	s := &stand{options: o, cast: newCast(o.lastGene), fresh: newFresh(), out: out}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	dir, err := os.MkdirTemp("", "locus-bench-")
	if err != nil {
		return nil, err
	}
	s.undo = append(s.undo, func() { _ = os.RemoveAll(dir) })
	if err := s.startDemo(ctx, dir); err != nil {
		return nil, err
	}
	if err := s.pickShards(); err != nil {
		return nil, err
	}
	if o.before != "" {
		if err := s.startBefore(ctx, dir); err != nil {
			return nil, err
		}
	}
	if s.haproxy, err = startHaproxy(ctx, o.haproxyThreads, dir, s.shards[0].Addr); err != nil {
		return nil, err
	}
	s.undo = append(s.undo, func() { s.haproxy.stop(haproxyPatience) })
	if err := s.prepareServers(ctx); err != nil {
		return nil, err
	}
	facts, err := s.collectFacts(ctx)
	s.facts = append(facts, s.facts...)
	return s, err
}

// startDemo starts a demo, or takes the one that -ready names.
func (s *stand) startDemo(ctx context.Context, dir string) (err error) {
	if s.options.ready != "" {
		s.ready, err = loadReady(s.options.ready)
		return err
	}
	fmt.Fprintln(s.out, "building and starting the demo")
	r, demo, err := startDemo(ctx, s.options, dir)
	if err != nil {
		return err
	}
	s.ready = r
	s.undo = append(s.undo, func() { demo.stop(demoStopPatience) })
	return nil
}

func (s *stand) pickShards() error {
	for _, name := range []string{"s0", "s1"} {
		i := slices.IndexFunc(s.ready.Shards, func(r readyShard) bool { return r.Name == name })
		if i >= 0 {
			s.shards = append(s.shards, s.ready.Shards[i])
		}
	}
	if len(s.shards) == 0 || s.shards[0].Name != "s0" {
		return errors.New("the demo has no shard s0, to which all lanes are to lead")
	}
	return nil
}

// Close ends the started processes and deletes the inserted rows.
func (s *stand) Close() {
	for _, f := range slices.Backward(s.undo) {
		f()
	}
	s.undo = nil
}
