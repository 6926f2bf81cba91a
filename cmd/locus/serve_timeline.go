package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/control/events"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/proxy/ddl"
)

// record starts the recorder of events. The returned function writes the queued events and stops the recorder.
func (p *process) record() (end func()) {
	p.timeline = events.NewRecorder(p.kv, p.log)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = p.timeline.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// recordDefinition records a definition that shards have made.
func (p *process) recordDefinition(m ddl.Made) {
	shards := make([]string, len(m.Shards))
	for i, shard := range m.Shards {
		shards[i] = string(shard)
	}
	now := time.Now()
	e := events.Event{At: now, Kind: events.Definition, Subject: m.Subject, By: m.User, Took: now.Sub(m.Began)}
	e.What = fmt.Sprintf("made on %s: %s", strings.Join(shards, ", "), m.Statement)
	if e.Failed = m.Code != 0; e.Failed {
		e.What = fmt.Sprintf("failed with error %d after it was made on %s: %s", m.Code, strings.Join(shards, ", "), m.Statement)
	}
	p.timeline.Record(e)
}

// recordDrain records that the process begins to stop, which it does when ctx ends.
func (p *process) recordDrain(background, ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-background.Done():
	}
	if ctx.Err() == nil { // a part failed that the process can't do without
		return nil
	}
	by := "a signal"
	if told := p.told.Load(); told != nil {
		by = *told
	}
	e := events.Event{At: time.Now(), Kind: events.Drain, Subject: "process " + p.card.ID, By: by, What: "stops"}
	if sessions := p.proxy.Status().Sessions; sessions > 0 {
		e.What = "stops, and waits for " + quantity(sessions, "session")
	}
	p.timeline.Record(e)
	return nil
}

// recordOutages returns the function that records when outages begin and end.
func (p *process) recordOutages() func(context.Context, time.Time, []finding.Finding) {
	outages := &events.Outages{KV: p.kv, Process: p.card.ID, Lives: func(ctx context.Context, id string) (bool, error) {
		cards, err := fleet.Processes(ctx, p.kv)
		return slices.ContainsFunc(cards, func(c fleet.Card) bool { return c.ID == id }), err
	}}
	return func(ctx context.Context, now time.Time, found []finding.Finding) {
		ctx, cancel := context.WithTimeout(ctx, observeEvery)
		defer cancel()
		var open []events.OpenOutage
		for _, f := range found {
			if f.Severity == finding.Outage {
				open = append(open, events.OpenOutage{Subject: f.Where, Check: f.Check, What: f.What})
			}
		}
		if err := outages.Observe(ctx, now, open); err != nil {
			p.log.Debug("record outages in the timeline", "error", err)
		}
	}
}

// observeEvery is the interval between two checks of the rate of errors.
const observeEvery = 10 * time.Second

// recordErrors records when many statements fail, and when that ends.
func (p *process) recordErrors(ctx context.Context) error {
	var rate events.Rate
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	for {
		s, codes := p.proxy.Status(), map[uint16]uint64{}
		for code, n := range s.Meter.Codes.All {
			codes[code] += n
		}
		for _, e := range rate.Observe(time.Now(), s.Counts.Statements.Load(), codes) {
			e.Subject, e.By = "process "+p.card.ID, p.card.ID
			p.timeline.Record(e)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
