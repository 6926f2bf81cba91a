package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/internal/steps"
	"locus/router/catalog"
)

// Redefined asks the proxies to read the definitions that have changed on the shards. A proxy answers true when it plans
// statements by definitions that it has read after the question.
const Redefined Question = "redefined"

// Settled is [Redefined] that also asks whether a statement is still running that began before. A proxy answers true when none
// is.
const Settled Question = "settled"

// Renumbered asks the proxies to discard the ranges of numbers that they have reserved for the counters named
// in the change, and whether a statement still uses such numbers. A proxy answers true when none does.
const Renumbered Question = "renumbered"

// RenumberedPatience is how long the proxies have to answer that. It is shorter than the time that statements wait for numbers.
const RenumberedPatience = 3 * time.Second

// RedefinedPatience is how long the proxies have to answer. By then a proxy that has crashed is no longer listed, since its
// card outlives it by ten seconds.
const RedefinedPatience = 12 * time.Second

// Keys relative to the cluster's prefix: under each question, one key for each process that asks it. A key's value is the union
// of the changes that its process is waiting for, so that a later definition doesn't replace an earlier one that a proxy has not
// seen yet.
const changesPrefix = "definitions/"

// anyProcess is the key of processes that have no card, such as commands. Their requests don't name what has changed, so one
// request may replace another.
const anyProcess = "any"

// The condition that all proxies know a definition, and the reason of one that does not.
const (
	hasRead = "has read the definition from the shards"
	unread  = "it can't read it from some shard"
)

func changesKey(q Question) string { return changesPrefix + string(q) + "/" }

// TellRedefined makes every proxy read all tables, and waits until each has. The error names the proxies that have not answered
// in time.
func TellRedefined(ctx context.Context, kv *etcd.KV, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked, err := putChange(ctx, kv, Redefined, anyProcess, catalog.Anything)
	if err != nil {
		return err
	}
	return unanswered(ctx, kv, Redefined, asked, "", hasRead, unread)
}

func putChange(ctx context.Context, kv *etcd.KV, q Question, process string, change catalog.Change) (revision int64, err error) {
	text, err := json.Marshal(change)
	if err != nil {
		return 0, err
	}
	if revision, err = kv.Commit(ctx, nil, etcd.Put(changesKey(q)+process, text)); err != nil {
		return 0, fmt.Errorf("notify the proxies of a definition: %w", err)
	}
	return revision, nil
}

// unanswered waits for the answers of the proxies other than the one that asks. The error is a *steps.MissingError with those that have
// not answered true. Denied is the reason of a proxy that has answered false.
func unanswered(ctx context.Context, kv *etcd.KV, q Question, asked int64, asker, condition, denied string) error {
	answers, err := await[bool](ctx, kv, q, asked, inquiry{asker: asker})
	if err != nil {
		return err
	}
	var missing []steps.Missing
	for _, id := range answers.Silent {
		missing = append(missing, steps.Missing{Process: id, Why: "no answer"})
	}
	for id, known := range answers.By {
		if !known && id != asker {
			missing = append(missing, steps.Missing{Process: id, Why: denied})
		}
	}
	if missing == nil {
		return nil
	}
	slices.SortFunc(missing, func(a, b steps.Missing) int { return strings.Compare(a.Process, b.Process) })
	return &steps.MissingError{Condition: condition, Missing: missing}
}

// Announcer notifies the other proxies of the definitions that one process has changed. It is safe for concurrent use.
type Announcer struct {
	KV *etcd.KV
	ID string // of the process

	redefined, settled, renumbered waiting
}

// waiting is the changes of one question that the process is waiting for.
type waiting struct {
	mu      sync.Mutex // held while a change is written, so that a later write contains the earlier changes
	changes []*catalog.Change
}

// Redefined makes every other proxy read the changed definitions, and waits until each has. The error names the proxies that
// have not answered in time.
func (a *Announcer) Redefined(ctx context.Context, change catalog.Change) error {
	return a.tell(ctx, &a.redefined, Redefined, change, hasRead, unread)
}

// Renumbered makes every other proxy discard its reserved numbers, and waits until no statement uses such
// numbers.
func (a *Announcer) Renumbered(ctx context.Context, counted catalog.Change) error {
	ctx, cancel := context.WithTimeout(ctx, RenumberedPatience)
	defer cancel()
	return a.tell(ctx, &a.renumbered, Renumbered, counted, "has given up the numbers of the former counter", "it may still issue some")
}

// Settled is Redefined that also waits until all statements have ended that began with the old tables.
func (a *Announcer) Settled(ctx context.Context, change catalog.Change) error {
	return a.tell(ctx, &a.settled, Settled, change, "has ended the statements that began before the definition", "one may still be running there")
}

func (a *Announcer) tell(ctx context.Context, w *waiting, q Question, change catalog.Change, condition, denied string) error {
	ctx, cancel := context.WithTimeout(ctx, RedefinedPatience)
	defer cancel()
	asked, err := w.put(ctx, a, q, &change)
	defer w.done(&change)
	if err != nil {
		return err
	}
	return unanswered(ctx, a.KV, q, asked, a.ID, condition, denied)
}

func (w *waiting) put(ctx context.Context, a *Announcer, q Question, change *catalog.Change) (revision int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, change)
	var all catalog.Change
	for _, c := range w.changes {
		all = all.And(*c)
	}
	return putChange(ctx, a.KV, q, a.ID, all)
}

func (w *waiting) done(change *catalog.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = slices.DeleteFunc(w.changes, func(c *catalog.Change) bool { return c == change })
}

// Follower makes one proxy follow the definitions of all processes.
type Follower struct {
	KV       *etcd.KV
	Presence *etcd.Presence // the answers disappear together with it
	ID       string
	Question Question
	// Follow reads the changed definitions, and waits until they are in force.
	Follow func(ctx context.Context, change catalog.Change) error
	Log    *slog.Logger
}

// Run follows definitions until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	var answered int64
	return attend(ctx, f.KV.Under(changesKey(f.Question)), func() error { return f.check(ctx, &answered) })
}

// check follows the questions that were asked since the last answer.
func (f *Follower) check(ctx context.Context, answered *int64) error {
	pairs, _, err := f.KV.GetPrefix(ctx, changesKey(f.Question))
	if err != nil {
		return err
	}
	var change catalog.Change
	latest := *answered
	for _, p := range pairs {
		if p.Revision <= *answered || p.Key == changesKey(f.Question)+f.ID { // this process reads its own changes by itself
			continue
		}
		change, latest = change.And(changeOf(p.Value)), max(latest, p.Revision)
	}
	if latest == *answered {
		return nil
	}
	if err := putAnswer(ctx, f.Presence, f.ID, f.Question, latest, "", f.follow(ctx, change)); err != nil {
		f.Log.Debug("answer that a definition is known", "question", f.Question, "error", err)
		return err
	}
	*answered = latest
	return nil
}

func (f *Follower) follow(ctx context.Context, change catalog.Change) bool {
	ctx, cancel := context.WithTimeout(ctx, RedefinedPatience)
	defer cancel()
	return f.Follow(ctx, change) == nil
}

// changeOf returns a written change, or everything if it can't be read or names nothing.
func changeOf(text []byte) (c catalog.Change) {
	if json.Unmarshal(text, &c) != nil || c.Empty() {
		return catalog.Anything
	}
	return c
}
