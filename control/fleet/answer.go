package fleet

import (
	"context"
	"encoding/json"
	"log/slog"

	"locus/config/etcd"
	"locus/router/cluster"
)

// Question is what proxies can be asked for.
type Question string

// The questions.
const (
	// Load is the statements per second by gene: meter.Load.
	Load Question = "load"
	// Outcomes is how statements on moving genes have fared: meter.Outcome by job.
	Outcomes Question = "outcomes"
	// Mirrored is what mirrored reads have shown: mirror.Report by job.
	Mirrored Question = "mirrored"
	// Slow is which statements are slow: a list of meter.SlowDigest.
	Slow Question = "slow"
	// Statements is what the statements of each digest have cost, Top the same of those
	// that cost most, in short, for who asks again and again: a Packed meter.Report.
	Statements Question = "statements"
	Top        Question = "top"
	// ForgetStatements has the figures of statements begin anew: true.
	ForgetStatements Question = "forget_statements"
	// Pulse is how it does, in figures: a Packed Beat.
	Pulse Question = "pulse"
	// Clock is what time it is: a time.Time.
	Clock Question = "clock"
	// Servers is how the shards' servers are, as the proxy sees them: a list of health.Status.
	Servers Question = "servers"
	// Generators is how the generators stand that the process has opened: a list of
	// generators.Report.
	Generators Question = "generators"
	// Space asks for the disk with the process's own files: a Disk. Movers answer it as well as proxies.
	Space Question = "space"
)

// asked returns the prefixes of the cards of the processes that answer the question.
func (q Question) asked() []string {
	if q == Space {
		return []string{cluster.ProxyPrefix, cluster.ProcessPrefix}
	}
	return []string{cluster.ProxyPrefix}
}

// Keys relative to the cluster's prefix: a question, and under another one the
// proxies' answers to it.
const (
	questionPrefix = "questions/"
	answerPrefix   = "answers/"
)

func questionKey(q Question) string          { return questionPrefix + string(q) }
func answersKey(q Question) string           { return answerPrefix + string(q) + "/" }
func answerKey(q Question, id string) string { return answersKey(q) + id }

// answer is what one proxy has counted, when it was asked at that revision.
type answer struct {
	Asked int64           `json:"asked"`
	Value json.RawMessage `json:"value"`
}

// Answerer answers for one proxy.
type Answerer struct {
	KV       *etcd.KV
	Presence *etcd.Presence // the answers go away with it
	ID       string
	Values   map[Question]func() any
	Log      *slog.Logger
}

// Run answers until ctx ends.
func (a *Answerer) Run(ctx context.Context) error {
	asked := map[Question]int64{}
	return attend(ctx, a.KV.Under(questionPrefix), func() error { return a.look(ctx, asked) })
}

// look answers what was asked since the last answer.
func (a *Answerer) look(ctx context.Context, asked map[Question]int64) error {
	pairs, _, err := a.KV.GetPrefix(ctx, questionPrefix)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		q := Question(p.Key[len(questionPrefix):])
		value, known := a.Values[q]
		if !known || p.Revision <= asked[q] {
			continue
		}
		if err := a.answer(ctx, q, p.Revision, value()); err != nil {
			a.Log.Debug("answer a question", "question", q, "error", err)
			return err
		}
		asked[q] = p.Revision
	}
	return nil
}

func (a *Answerer) answer(ctx context.Context, q Question, asked int64, value any) error {
	return putAnswer(ctx, a.Presence, a.ID, q, asked, value)
}

func putAnswer(ctx context.Context, presence *etcd.Presence, id string, q Question, asked int64, value any) error {
	inner, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text, err := json.Marshal(answer{asked, inner})
	if err != nil {
		return err
	}
	return presence.Beside(ctx, answerKey(q, id), text)
}
