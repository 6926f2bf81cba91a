package fleet

import (
	"context"
	"encoding/json"
	"log/slog"

	"locus/config/etcd"
	"locus/router/cluster"
)

// Question identifies a query to the proxies.
type Question string

// The questions.
const (
	// Load: the statements per second by gene, as meter.Load.
	Load Question = "load"
	// Outcomes: the errors and latencies of statements on moving genes, as meter.Outcome by job.
	Outcomes Question = "outcomes"
	// Mirrored: the results of mirrored reads, as mirror.Report by job.
	Mirrored Question = "mirrored"
	// Slow: the slow statements, as a list of meter.SlowDigest.
	Slow Question = "slow"
	// Statements: the cost of the statements by digest, as a Packed meter.Report. Top is a shorter form with
	// only the most expensive digests, for repeated queries.
	Statements Question = "statements"
	Top        Question = "top"
	// ForgetStatements resets the statistics of statements. The answer is true.
	ForgetStatements Question = "forget_statements"
	// Pulse: the state of the proxy in numbers, as a Packed Beat.
	Pulse Question = "pulse"
	// Clock: the current time, as a time.Time.
	Clock Question = "clock"
	// Servers: the state of the shards' servers as the proxy sees them, as a list of health.Status.
	Servers Question = "servers"
	// Sessions asks for the clients' sessions: a Packed list, which [SessionsOf] reads.
	Sessions Question = "sessions"
	// Generators: the state of the generators that the process has opened, as a list of generators.Report.
	Generators Question = "generators"
	// Space: the disk with the process's own files, as a Disk. Movers answer it as well as proxies.
	Space Question = "space"
	// Digest: all figures of one digest, which is the question's subject, as a Packed list of at most one meter.Details.
	Digest Question = "digest"
)

// asked returns the prefixes of the cards of the processes that answer the question.
func (q Question) asked() []string {
	if q == Space {
		return []string{cluster.ProxyPrefix, cluster.ProcessPrefix}
	}
	return []string{cluster.ProxyPrefix}
}

// Prefixes of keys relative to the cluster's prefix, for questions and for the proxies' answers.
const (
	questionPrefix = "questions/"
	answerPrefix   = "answers/"
)

func questionKey(q Question) string          { return questionPrefix + string(q) }
func answersKey(q Question) string           { return answerPrefix + string(q) + "/" }
func answerKey(q Question, id string) string { return answersKey(q) + id }

// answer is one proxy's answer. Asked is the revision of the question. About is its subject, if it has one.
type answer struct {
	Asked int64           `json:"asked"`
	About string          `json:"about,omitempty"`
	Value json.RawMessage `json:"value"`
}

// Answerer answers the questions for one proxy.
type Answerer struct {
	KV       *etcd.KV
	Presence *etcd.Presence // its lease bounds the life of the answers
	ID       string
	Values   map[Question]func() any
	// About has the questions that have a subject.
	About map[Question]func(subject string) any
	Log   *slog.Logger
}

// Run answers until ctx ends.
func (a *Answerer) Run(ctx context.Context) error {
	asked := map[Question]int64{}
	return attend(ctx, a.KV.Under(questionPrefix), func() error { return a.look(ctx, asked) })
}

// look answers the questions that were asked since the last call.
func (a *Answerer) look(ctx context.Context, asked map[Question]int64) error {
	pairs, _, err := a.KV.GetPrefix(ctx, questionPrefix)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		q := Question(p.Key[len(questionPrefix):])
		if p.Revision <= asked[q] {
			continue
		}
		value, subject, known := a.value(q, p.Value)
		if !known {
			continue
		}
		if err := a.answer(ctx, q, p.Revision, subject, value); err != nil {
			a.Log.Debug("answer a question", "question", q, "error", err)
			return err
		}
		asked[q] = p.Revision
	}
	return nil
}

// value returns the answer to a question, whose document contains the subject if it has one.
func (a *Answerer) value(q Question, document []byte) (value any, subject string, known bool) {
	if answer, known := a.Values[q]; known {
		return answer(), "", true
	}
	about, known := a.About[q]
	if !known || json.Unmarshal(document, &subject) != nil {
		return nil, "", false
	}
	return about(subject), subject, true
}

func (a *Answerer) answer(ctx context.Context, q Question, asked int64, about string, value any) error {
	return putAnswer(ctx, a.Presence, a.ID, q, asked, about, value)
}

func putAnswer(ctx context.Context, presence *etcd.Presence, id string, q Question, asked int64, about string, value any) error {
	inner, err := json.Marshal(value)
	if err != nil {
		return err
	}
	text, err := json.Marshal(answer{asked, about, inner})
	if err != nil {
		return err
	}
	return presence.Beside(ctx, answerKey(q, id), text)
}
