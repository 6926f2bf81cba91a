package keyring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
)

// Rotation makes a version that of new IDs, once all living processes can read it.
type Rotation struct {
	KV *etcd.KV
	// Version is the one that is to become current; Fingerprint tells its key.
	Version     uint32
	Fingerprint string
	By          string
	Now         func() time.Time
	// Wait is how long processes that lack it are waited for; 0: not at all.
	Wait time.Duration
	// Tell is called when who is waited for has changed.
	Tell func(waiting []Lack)
}

// Lack is a process that can't read a version, and why.
type Lack struct {
	Process string `json:"process"`
	Why     string `json:"why"`
}

func (l Lack) String() string { return l.Process + ": " + l.Why }

// Outcome is what is known of a rotation.
type Outcome struct {
	Before, Current uint32
	// Lagging are processes that don't stamp with it yet.
	Lagging []Lack
}

const (
	// lookAgain is the pause between two looks at the cards.
	lookAgain = 250 * time.Millisecond
	// answerPatience bounds the wait for who is asked whether it lives.
	answerPatience = 2 * time.Second
)

// ErrUnchanged is in the error of a rotation that has changed nothing.
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

// flip waits until all can read the version, and makes it current.
func (r Rotation) flip(ctx, waiting context.Context) (before uint32, err error) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	var told string
	for {
		current, lacks, err := r.attempt(waiting)
		if current.Version > 0 {
			before = current.Version
		}
		final := errors.As(err, new(final))
		if err == nil && len(lacks) == 0 || final {
			return before, err
		}
		if why := fmt.Sprint(lacks); err == nil && why != told {
			told = why
			r.Tell(lacks)
		}
		raced := errors.As(err, new(*etcd.Conflict)) // a card has changed in between
		if r.Wait == 0 && waiting.Err() == nil && !raced {
			return before, r.unchanged(before, r.asked(waiting, lacks), err)
		}
		select {
		case <-ticker.C:
		case <-waiting.Done():
			why := fmt.Errorf("not all could read it within %v", r.Wait)
			if ctx.Err() != nil {
				why = errors.New("interrupted")
			} else {
				lacks = r.asked(ctx, lacks)
			}
			return before, r.unchanged(before, lacks, errors.Join(why, err))
		}
	}
}

// final marks errors after which it isn't tried again.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// attempt makes the version current if all can read it, and gives those that can't. What
// it has seen of them holds when it is written, or it is not written.
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
	_, err = r.KV.Commit(ctx, append(guards, etcd.Guard{Key: currentKey, Revision: revision}), etcd.Put(currentKey, next.text()))
	var conflict *etcd.Conflict
	switch {
	case errors.As(err, &conflict) && strings.HasSuffix(conflict.Key, currentKey):
		return current, nil, final{fmt.Errorf("%w: %w", ErrUnchanged, err)}
	case errors.Is(err, etcd.ErrUnknown):
		return current, nil, r.settle(ctx, next, err)
	case err != nil: // a card, too: then it is looked at again
		return current, nil, err
	}
	return current, nil, nil
}

// settle finds out what became of a write whose outcome is unknown, whoever interrupts
// it.
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
	return err // it may still arrive; the next attempt finds out
}

// asked adds to what is missing who doesn't answer: its card stays for some seconds, or
// it is stopped.
func (r Rotation) asked(ctx context.Context, lacks []Lack) []Lack {
	if len(lacks) == 0 {
		return lacks
	}
	answers, err := fleet.Ask[time.Time](ctx, r.KV, fleet.Clock, answerPatience)
	if err != nil {
		return lacks // which says enough
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

// unchanged says what stands, and who stands in the way.
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

// lagging waits until every process stamps with the version, and gives those that don't.
// They stamp with the one before, which all can read.
func (r Rotation) lagging(ctx context.Context) []Lack {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		lagging, err := r.look(ctx)
		if err == nil && len(lagging) == 0 {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if err != nil { // mostly since the wait ended within the look
				lagging, err = r.look(context.WithoutCancel(ctx)) // which each request to etcd bounds
			}
			if err != nil {
				return []Lack{{"all", fmt.Sprintf("it is not known whether they stamp with it: %v", err)}}
			}
			return lagging
		}
	}
}

func (r Rotation) look(ctx context.Context) ([]Lack, error) {
	cards, err := fleet.Processes(ctx, r.KV)
	if err != nil {
		return nil, err
	}
	return Lagging(cards, r.Version), nil
}

// Lacking are the processes that can't read a version by a key of that fingerprint.
func Lacking(cards []fleet.Card, version uint32, fingerprint string) []Lack {
	var list []Lack
	for _, c := range cards {
		if why := lack(c, version, fingerprint); why != "" {
			list = append(list, Lack{c.ID, why})
		}
	}
	return list
}

func lack(c fleet.Card, version uint32, fingerprint string) string {
	switch {
	case c.Keys == nil:
		return "an older build, which does not tell what keys it has: upgrade it"
	case len(c.Keys.Versions) == 0 && c.Proxies():
		return "it has no key ring: name one in its configuration as key_ring"
	case len(c.Keys.Versions) == 0: // who takes no statements reads no order numbers
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
		why += "; it refuses what is in its file: " + c.Keys.Refused
	}
	return why
}

// Lagging are the processes with keys whose new IDs carry another version.
func Lagging(cards []fleet.Card, version uint32) []Lack {
	var list []Lack
	for _, c := range cards {
		if c.Keys != nil && len(c.Keys.Versions) > 0 && c.Keys.Stamps != version {
			list = append(list, Lack{c.ID, fmt.Sprintf("it stamps with version %d", c.Keys.Stamps)})
		}
	}
	return slices.Clip(list)
}
