package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
)

// Answers is what the proxies have said, by their IDs.
type Answers[T any] struct {
	By map[string]T
	// Silent are living proxies that have not answered in time, or can't; Late is
	// how many of them can.
	Silent []string
	Late   int
}

// Ask puts a question to all living proxies, and waits for their answers as long
// as patience lasts. That some are silent is no error.
func Ask[T any](ctx context.Context, kv *etcd.KV, q Question, patience time.Duration) (Answers[T], error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked, err := kv.Commit(ctx, nil, etcd.Put(questionKey(q), fmt.Appendf(nil, "%q", time.Now().UTC().Format(time.RFC3339Nano))))
	if err != nil {
		return Answers[T]{}, fmt.Errorf("ask the proxies for their %s: %w", q, err)
	}
	return await[T](ctx, kv, q, asked, "")
}

// await returns the answers to what was asked at a revision, once no answer is missing that can come, or the context ends. The
// process that asks is not waited for.
func await[T any](ctx context.Context, kv *etcd.KV, q Question, asked int64, asker string) (Answers[T], error) {
	ctx, cancel := context.WithCancel(ctx)
	changes := kv.Under(answersKey(q)).Changes(ctx, asked)
	defer func() {
		cancel()
		for range changes { // until the watch is done
		}
	}()
	var last Answers[T]
	for {
		found, err := gather[T](ctx, kv, q, asked, asker)
		switch {
		case err == nil:
			if last = found; found.Late == 0 {
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

// AskLately is Ask, unless somebody has put the question no longer ago than fresh, and
// all have answered: so many who look again and again cost no more than one. Clocks of
// those who ask may differ; one that is behind has the question put anew.
func AskLately[T any](ctx context.Context, kv *etcd.KV, q Question, fresh, patience time.Duration) (Answers[T], error) {
	text, asked, err := kv.Get(ctx, questionKey(q))
	if err != nil {
		return Answers[T]{}, fmt.Errorf("look who has asked the proxies for their %s: %w", q, err)
	}
	var at time.Time
	if asked > 0 && json.Unmarshal(text, &at) == nil {
		if age := time.Since(at); age >= 0 && age < fresh {
			if found, err := gather[T](ctx, kv, q, asked, ""); err == nil && len(found.Silent) == 0 {
				return found, nil
			}
		}
	}
	return Ask[T](ctx, kv, q, patience)
}

// gather reads what the processes other than the one that asks have answered since.
func gather[T any](ctx context.Context, kv *etcd.KV, q Question, asked int64, asker string) (found Answers[T], err error) {
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
			continue // whoever wrote it counts as silent
		}
		found.By[strings.TrimPrefix(p.Key, answersKey(q))] = value
	}
	for _, c := range cards {
		if _, answered := found.By[c.ID]; !answered && c.ID != asker {
			found.Silent = append(found.Silent, c.ID)
			if c.Answers {
				found.Late++
			}
		}
	}
	return found, nil
}
