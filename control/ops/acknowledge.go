package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/control/finding"
)

// Acknowledge requests that a finding does not count any more, because a person knows and accepts it.
type Acknowledge struct {
	Finding string `json:"finding"` // its ID
	Why     string `json:"why"`
	// Days is when the acknowledgement ends; 0: it does not end by itself, which is possible for advice alone.
	Days float64 `json:"days,omitempty"`
}

// Withdraw requests that a finding counts again.
type Withdraw struct {
	Finding string `json:"finding"`
}

// Limits of acknowledgements.
const (
	mostDays     = 366
	mostRiskDays = 90
	mostReason   = 500 // bytes
	mostKnown    = 1000
)

// Acknowledge records that a person accepts a finding as it is now, and why. It replaces an earlier acknowledgement of the
// same finding.
func (o *Ops) Acknowledge(ctx context.Context, r Acknowledge, by string) (finding.Acknowledgement, error) {
	a := finding.Acknowledgement{By: by, At: o.now().UTC(), Why: strings.Join(strings.Fields(r.Why), " ")}
	switch {
	case r.Finding == "":
		return a, errNoFinding
	case a.Why == "":
		return a, invalid("no reason is given; say why the finding is acceptable")
	case len(a.Why) > mostReason:
		return a, invalid("the reason has %d bytes; use %d at most", len(a.Why), mostReason)
	case !(r.Days >= 0 && r.Days <= mostDays):
		return a, invalid("%v days are not possible; use 0 to %d days", r.Days, mostDays)
	}
	if o.findings == nil {
		return a, errors.New("this process does not list findings; use locus findings acknowledge")
	}
	list, err := o.findings(ctx)
	if err != nil {
		return a, err
	}
	f, err := findingOf(list, r.Finding)
	if err != nil {
		return a, err
	}
	switch {
	case f.Severity == finding.Outage:
		return a, fmt.Errorf("finding %s is an outage, which can't be acknowledged: %s", f.ID, f.Remedy)
	case f.Severity == finding.AtRisk && (r.Days == 0 || r.Days > mostRiskDays):
		return a, invalid("finding %s is at risk; such an acknowledgement ends: give a number of days, %d at most", f.ID, mostRiskDays)
	}
	a.Fact = f.Fact
	if r.Days > 0 {
		a.Until = a.At.Add(time.Duration(r.Days * 24 * float64(time.Hour)))
	}
	return a, o.keep(ctx, a)
}

var errNoFinding = invalid("no finding is named; locus doctor lists the findings with their IDs")

// findingOf returns the finding with an ID.
func findingOf(list []finding.Finding, id string) (finding.Finding, error) {
	for _, f := range list {
		if f.ID == id {
			return f, nil
		}
		if slices.ContainsFunc(f.Consequences, func(c finding.Fact) bool { return c.ID == id }) {
			return f, fmt.Errorf("finding %s is a consequence of finding %s, and ends with it: %s", id, f.ID, f.Remedy)
		}
	}
	return finding.Finding{}, fmt.Errorf("the cluster has no finding %s now; locus doctor lists the findings with their IDs", id)
}

// keep writes an acknowledgement, and removes those that have ended.
func (o *Ops) keep(ctx context.Context, a finding.Acknowledgement) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	known, err := finding.Acknowledged(ctx, o.kv)
	if err != nil {
		return err
	}
	writes := []etcd.Write{etcd.Put(a.Key(), text)}
	for _, old := range known {
		if old.ID != a.ID && old.Ended(a.At) && len(writes) < mostWrites {
			writes = append(writes, etcd.Delete(old.Key()))
		}
	}
	if len(known) >= mostKnown && len(writes) == 1 {
		return fmt.Errorf("%d findings are acknowledged already, which is the limit; locus findings withdraw removes one", len(known))
	}
	e := events.Event{At: a.At, Kind: events.Finding, Subject: "finding " + a.ID, What: fmt.Sprintf("acknowledged, because %s: %s: %s", a.Why, a.Where, a.What), By: a.By}
	writes, _ = events.Add(writes, e)
	if _, err = o.kv.Commit(ctx, nil, writes...); err != nil {
		return fmt.Errorf("acknowledge finding %s: %w", a.ID, err)
	}
	return nil
}

// mostWrites bounds the writes of one transaction, which etcd limits to 128.
const mostWrites = 100

// Withdraw removes the acknowledgement of a finding on behalf of by, and returns it.
func (o *Ops) Withdraw(ctx context.Context, r Withdraw, by string) (a finding.Acknowledgement, err error) {
	if r.Finding == "" {
		return a, errNoFinding
	}
	known, err := finding.Acknowledged(ctx, o.kv)
	if err != nil {
		return a, err
	}
	a, is := known[r.Finding]
	if !is {
		return a, fmt.Errorf("finding %s is not acknowledged; locus findings acknowledged lists those that are", r.Finding)
	}
	e := events.Event{At: o.now(), Kind: events.Finding, Subject: "finding " + a.ID, What: "acknowledgement withdrawn: " + a.Where + ": " + a.What, By: by}
	writes, _ := events.Add([]etcd.Write{etcd.Delete(a.Key())}, e)
	if _, err = o.kv.Commit(ctx, nil, writes...); err != nil {
		return a, fmt.Errorf("withdraw the acknowledgement of finding %s: %w", a.ID, err)
	}
	return a, nil
}
