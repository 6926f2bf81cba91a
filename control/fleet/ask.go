package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
)

// Answers holds the answers of the proxies, by ID.
type Answers[T any] struct {
	By map[string]T
	// Silent lists the live proxies that have not answered in time, including those that can't answer. Late
	// counts those that can.
	Silent []string
	Late   int
	// superseded is true if a proxy has answered a later question about another subject.
	superseded bool
}

// Ask sends a question to all live proxies and waits for their answers, for at most patience. Missing answers
// are no error.
func Ask[T any](ctx context.Context, kv *etcd.KV, q Question, patience time.Duration) (Answers[T], error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked, err := kv.Commit(ctx, nil, etcd.Put(questionKey(q), fmt.Appendf(nil, "%q", time.Now().UTC().Format(time.RFC3339Nano))))
	if err != nil {
		return Answers[T]{}, fmt.Errorf("ask the proxies for their %s: %w", q, err)
	}
	return await[T](ctx, kv, q, asked, inquiry{})
}

// mostRepeats is how often AskAbout asks again because another process has asked about another subject meanwhile.
const mostRepeats = 5

// AskAbout is like Ask, for a question that has a subject. The proxies answer the latest question of a kind only, so AskAbout asks
// again if another process has asked about another subject meanwhile.
func AskAbout[T any](ctx context.Context, kv *etcd.KV, q Question, subject string, patience time.Duration) (Answers[T], error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	document, err := json.Marshal(subject)
	if err != nil {
		return Answers[T]{}, err
	}
	for again := 0; ; again++ {
		asked, err := kv.Commit(ctx, nil, etcd.Put(questionKey(q), document))
		if err != nil {
			return Answers[T]{}, fmt.Errorf("ask the proxies for their %s: %w", q, err)
		}
		found, err := await[T](ctx, kv, q, asked, inquiry{about: subject})
		if err != nil || !found.superseded || again == mostRepeats {
			return found, err
		}
	}
}

// inquiry identifies who asks and about what. The asking process does not answer itself.
type inquiry struct{ asker, about string }

// await returns the answers to the question of a revision. It returns when all possible answers have arrived,
// or the context ends. It does not wait for the process that asks.
func await[T any](ctx context.Context, kv *etcd.KV, q Question, asked int64, of inquiry) (Answers[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	changes := kv.Under(answersKey(q)).Changes(ctx, asked)
	defer func() {
		cancel()
		for range changes { // drain the channel until the watch has ended
		}
	}()
	var last Answers[T]
	for {
		found, err := gather[T](ctx, kv, q, asked, of)
		switch {
		case err == nil:
			if last = found; found.Late == 0 || found.superseded {
				return last, nil
			}
		case ctx.Err() == nil:
			return Answers[T]{}, fmt.Errorf("gather the proxies' %s: %w", q, err)
		}
		if _, open := <-changes; !open {
			if last.By == nil {
				return last, fmt.Errorf("gather the proxies' %s: %w", q, context.Cause(ctx))
			}
			return last, nil
		}
	}
}

// AskLately is like Ask, but reuses the answers if another process asked no longer ago than fresh and all
// proxies have answered. So many processes that poll cost no more than one. The clocks of the processes may
// differ. If the other clock is ahead of this one, AskLately asks again.
func AskLately[T any](ctx context.Context, kv *etcd.KV, q Question, fresh, patience time.Duration) (Answers[T], error) {
	text, asked, err := kv.Get(ctx, questionKey(q))
	if err != nil {
		return Answers[T]{}, fmt.Errorf("check who has asked the proxies for their %s: %w", q, err)
	}
	var at time.Time
	if asked > 0 && json.Unmarshal(text, &at) == nil {
		if age := time.Since(at); age >= 0 && age < fresh {
			if found, err := gather[T](ctx, kv, q, asked, inquiry{}); err == nil && len(found.Silent) == 0 {
				return found, nil
			}
		}
	}
	return Ask[T](ctx, kv, q, patience)
}

// gather reads the answers that processes other than the asker have given to the question of a revision.
func gather[T any](ctx context.Context, kv *etcd.KV, q Question, asked int64, of inquiry) (found Answers[T], err error) {
	processes := q.asked()
	read, _, err := kv.GetPrefixes(ctx, append(processes, answersKey(q))...)
	if err != nil {
		return found, err
	}
	var cards []Card
	for i, prefix := range processes {
		cards = append(cards, decodeCards(read[i], prefix)...)
	}
	found.By = map[string]T{}
	for _, p := range read[len(processes)] {
		var a answer
		var value T
		if json.Unmarshal(p.Value, &a) != nil || a.Asked < asked || json.Unmarshal(a.Value, &value) != nil {
			continue // a proxy whose answer can't be decoded counts as silent
		}
		if a.About != of.about {
			found.superseded = found.superseded || a.Asked > asked
			continue
		}
		found.By[strings.TrimPrefix(p.Key, answersKey(q))] = value
	}
	for _, c := range cards {
		if _, answered := found.By[c.ID]; !answered && c.ID != of.asker {
			found.Silent = append(found.Silent, c.ID)
			if c.Answers {
				found.Late++
			}
		}
	}
	return found, nil
}
