package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/control/fleet"
	"locus/internal/steps"
)

// Rotation makes a key version the one for new IDs once all running processes can read it.
type Rotation struct {
	KV *etcd.KV
	// Version is the new current version. Fingerprint identifies its key.
	Version     uint32
	Fingerprint string
	By          string
	Now         func() time.Time
	// Wait is how long to wait for processes that lack it; 0 means not at all.
	Wait time.Duration
	// Look is the interval at which the cards are read; default 250 ms.
	Look time.Duration
	// Tell is called when the list of processes waited for has changed.
	Tell func(waiting []Lack)
}

// Lack is a process that lacks a version, and why.
type Lack = steps.Missing

// Outcome is the known result of a rotation.
type Outcome struct {
	Before, Current uint32
	// Lagging are processes that don't stamp with the version yet.
	Lagging []Lack
}

const (
	defaultLook = 250 * time.Millisecond
	// answerPatience is the time limit for asking processes whether they are running.
	answerPatience = 2 * time.Second
)

// ErrUnchanged is wrapped by the error of a rotation that has changed nothing.
var ErrUnchanged = errors.New("nothing was changed")

// Run rotates the key. An error that wraps [ErrUnchanged] means that the old version is current, one that wraps [etcd.ErrUnknown] that
// the outcome is unknown. Otherwise the rotation is done, and the outcome lists who has yet to take part.
func (r Rotation) Run(ctx context.Context) (Outcome, error) {
	waiting, cancel := context.WithTimeout(ctx, max(r.Wait, patience))
	defer cancel()
	before, err := r.flip(ctx, waiting)
	if err != nil {
		return Outcome{Before: before, Current: before}, err
	}
	return Outcome{before, r.Version, r.lagging(waiting)}, nil
}

func (r Rotation) interval() time.Duration {
	if r.Look <= 0 {
		return defaultLook
	}
	return r.Look
}

// flip waits until all can read the version, and makes it current.
func (r Rotation) flip(ctx, waiting context.Context) (before uint32, err error) {
	var told string
	var lacks []Lack
	var problem error // of the last attempt
	err = steps.Barrier{
		Condition: fmt.Sprintf("can read numbers of key version %d", r.Version), Every: r.interval(),
		Read: func(ctx context.Context) ([]steps.Missing, error) {
			current, found, err := r.attempt(ctx)
			if current.Version > 0 {
				before = current.Version
			}
			final := errors.As(err, new(final))
			if err == nil && len(found) == 0 || final {
				return nil, err
			}
			lacks, problem = found, err
			if why := fmt.Sprint(found); err == nil && why != told {
				told = why
				r.Tell(found)
			}
			raced := errors.As(err, new(*etcd.Conflict)) // a card has changed meanwhile
			if r.Wait == 0 && ctx.Err() == nil && !raced {
				return nil, r.unchanged(before, r.asked(ctx, found), err)
			}
			if len(found) == 0 {
				return []steps.Missing{{Process: "unknown processes", Why: fmt.Sprint(err)}}, nil
			}
			return found, nil
		},
	}.Wait(waiting)
	if _, ended := errors.AsType[*steps.MissingError](err); !ended {
		return before, err
	}
	why := fmt.Errorf("not all could read it within %v", r.Wait)
	if ctx.Err() != nil {
		why = errors.New("interrupted")
	} else {
		lacks = r.asked(ctx, lacks)
	}
	return before, r.unchanged(before, lacks, errors.Join(why, problem))
}

// final marks errors that are not retried.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// attempt makes the version current if all can read it, and returns those that can't. The write succeeds only if the cards haven't
// changed since they were read.
func (r Rotation) attempt(ctx context.Context) (Current, []Lack, error) {
	current, revision, err := ReadCurrent(ctx, r.KV)
	if err != nil {
		return current, nil, err
	}
	if current.Version == r.Version && current.Fingerprint == r.Fingerprint {
		return current, nil, nil
	}
	cards, guards, err := fleet.Known(ctx, r.KV)
	if err != nil {
		return current, nil, err
	}
	if lacks := Lacking(cards, r.Version, r.Fingerprint); len(lacks) > 0 {
		return current, lacks, nil
	}
	next := Current{r.Version, r.Fingerprint, r.By, r.Now().UTC().Round(time.Second)}
	e := events.Event{At: next.At, Kind: events.Keys, Subject: "key ring", By: r.By, What: fmt.Sprintf("version %d is current", next.Version)}
	if current.Version > 0 {
		e.What += fmt.Sprintf(", it was %d", current.Version)
	}
	writes, _ := events.Add([]etcd.Write{etcd.Put(currentKey, next.text())}, e)
	_, err = r.KV.Commit(ctx, append(guards, etcd.Guard{Key: currentKey, Revision: revision}), writes...)
	var conflict *etcd.Conflict
	switch {
	case errors.As(err, &conflict) && strings.HasSuffix(conflict.Key, currentKey):
		return current, nil, final{fmt.Errorf("%w: %w", ErrUnchanged, err)}
	case errors.Is(err, etcd.ErrUnknown):
		return current, nil, r.settle(ctx, next, err)
	case err != nil: // or a card changed; then the cards are read again
		return current, nil, err
	}
	return current, nil, nil
}

// settle resolves a write with an unknown outcome, even if ctx has ended.
func (r Rotation) settle(ctx context.Context, next Current, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	found, _, read := ReadCurrent(ctx, r.KV)
	switch {
	case read != nil:
		return final{fmt.Errorf("whether key version %d is current is unknown: locus keys status shows it, once etcd answers: %w", r.Version, err)}
	case found.Version == next.Version && found.By == next.By && found.At.Equal(next.At):
		return nil
	}
	return err // the key may still arrive; the next attempt resolves that
}

// asked adds to the processes that lack the version why some don't answer: a dead process's card remains for some seconds, or the
// process is suspended.
func (r Rotation) asked(ctx context.Context, lacks []Lack) []Lack {
	if len(lacks) == 0 {
		return lacks
	}
	answers, err := fleet.Ask[time.Time](ctx, r.KV, fleet.Clock, answerPatience)
	if err != nil {
		return lacks // lacks alone is informative enough
	}
	cards, err := fleet.Cards(ctx, r.KV)
	if err != nil {
		return lacks
	}
	lacks = slices.Clone(lacks)
	for i := range lacks {
		could := slices.ContainsFunc(cards, func(c fleet.Card) bool { return c.ID == lacks[i].Process && c.Answers })
		if could && slices.Contains(answers.Silent, lacks[i].Process) {
			lacks[i].Why += "; it does not answer"
		}
	}
	return lacks
}

// unchanged returns an error with the current version and the processes that prevent the change.
func (r Rotation) unchanged(before uint32, lacks []Lack, why error) error {
	if errors.Is(why, etcd.ErrUnknown) {
		return fmt.Errorf("whether key version %d is current is unknown: locus keys status shows it: %w", r.Version, why)
	}
	errs := []error{fmt.Errorf("key version %d did not become current: %w", r.Version, ErrUnchanged)}
	if before > 0 {
		errs[0] = fmt.Errorf("key version %d did not become current, and %d still is: %w", r.Version, before, ErrUnchanged)
	}
	if why != nil {
		errs = append(errs, why)
	}
	for _, l := range lacks {
		errs = append(errs, errors.New(l.String()))
	}
	return errors.Join(errs...)
}

// lagging waits until every process stamps with the version, and returns those that don't. They stamp with the previous one, which all
// can read.
func (r Rotation) lagging(ctx context.Context) []Lack {
	err := steps.Barrier{
		Condition: fmt.Sprintf("hides new numbers by key version %d", r.Version), Every: r.interval(),
		Read: func(ctx context.Context) ([]steps.Missing, error) {
			lagging, err := r.look(ctx)
			if err != nil {
				return []steps.Missing{{Process: "all", Why: fmt.Sprintf("it is unknown whether they use it for new numbers: %v", err)}}, nil
			}
			return lagging, nil
		},
	}.Wait(ctx)
	missing, ended := errors.AsType[*steps.MissingError](err)
	if !ended {
		return nil
	}
	if lagging, err := r.look(context.WithoutCancel(ctx)); err == nil { // bounded by the time limit of requests to etcd
		return lagging
	}
	return missing.Missing
}

func (r Rotation) look(ctx context.Context) ([]Lack, error) {
	cards, err := fleet.Processes(ctx, r.KV)
	if err != nil {
		return nil, err
	}
	return Lagging(cards, r.Version), nil
}

// Lacking returns the processes that lack a version with a key of that fingerprint.
func Lacking(cards []fleet.Card, version uint32, fingerprint string) []Lack {
	var list []Lack
	for _, c := range cards {
		if why := lack(c, version, fingerprint); why != "" {
			list = append(list, Lack{Process: c.ID, Why: why})
		}
	}
	return list
}

func lack(c fleet.Card, version uint32, fingerprint string) string {
	switch {
	case c.Keys == nil:
		return "an older build, which does not report its keys: upgrade it"
	case len(c.Keys.Versions) == 0 && c.Proxies():
		return "it has no key ring: name one in its configuration as key_ring"
	case len(c.Keys.Versions) == 0: // a process that runs no statements reads no order numbers
		return ""
	}
	found := c.Keys.Fingerprint(version)
	if found == fingerprint {
		return ""
	}
	why := fmt.Sprintf("it has versions %s: bring the current key ring to it", c.Keys)
	if found != "" {
		why = fmt.Sprintf("it has another key under version %d: bring the current key ring to it, and restart it", version)
	}
	if c.Keys.Refused != "" {
		why += "; it refuses its file: " + c.Keys.Refused
	}
	return why
}

// Lagging returns the processes with keys whose new IDs have another version.
func Lagging(cards []fleet.Card, version uint32) []Lack {
	var list []Lack
	for _, c := range cards {
		if c.Keys != nil && len(c.Keys.Versions) > 0 && c.Keys.Stamps != version {
			list = append(list, Lack{Process: c.ID, Why: fmt.Sprintf("it hides new numbers with version %d", c.Keys.Stamps)})
		}
	}
	return slices.Clip(list)
}
