package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/proxy/meter"
)

// Bounds of the number of digests in an answer, and of the length of their texts.
const (
	toldDigests, toldLetters       = 300, 500
	toldTopDigests, toldTopLetters = 50, 200
)

// Time limits for answers of the proxies.
const (
	statementsPatience = 3 * time.Second
	forgetPatience     = 5 * time.Second
)

// StatementsTold returns a proxy's answer to Statements.
func StatementsTold(s *meter.Statements) any {
	return Packed[meter.Report]{s.Report(time.Now(), toldDigests, toldLetters)}
}

// TopTold returns a proxy's answer to Top.
func TopTold(s *meter.Statements) any {
	return Packed[meter.Report]{s.Report(time.Now(), toldTopDigests, toldTopLetters)}
}

// StatementsForgotten resets the statistics, and returns a proxy's answer to ForgetStatements.
func StatementsForgotten(s *meter.Statements) any {
	s.Forget(time.Now())
	return true
}

// Cost is the sum of the costs of statements over all proxies.
type Cost struct {
	meter.Report
	// Proxies is the number of proxies that have answered. Silent lists the others.
	Proxies int
	Silent  []string
}

// StatementsOf asks all proxies and adds up their answers. With the question Top, the answers are shorter.
func StatementsOf(ctx context.Context, kv *etcd.KV, q Question) (Cost, error) {
	answers, err := Ask[Packed[meter.Report]](ctx, kv, q, statementsPatience)
	if err != nil {
		return Cost{}, err
	}
	reports := make([]meter.Report, 0, len(answers.By))
	for _, told := range answers.By {
		reports = append(reports, told.Value)
	}
	slices.Sort(answers.Silent)
	return Cost{meter.SumReports(reports...), len(reports), answers.Silent}, nil
}

// DigestTold returns a proxy's answer to Digest.
func DigestTold(s *meter.Statements, subject string) any {
	database, hash := digestOf(subject)
	answer := Packed[[]meter.Details]{}
	if d, known := s.Details(database, hash, time.Now()); known {
		answer.Value = append(answer.Value, d)
	}
	return answer
}

// subjectOf returns the subject of a question about a digest. The hash contains no space.
func subjectOf(database, hash string) string { return hash + " " + database }

func digestOf(subject string) (database, hash string) {
	hash, database, _ = strings.Cut(subject, " ")
	return database, hash
}

// DigestCost contains the cost of the statements of one digest at all proxies.
type DigestCost struct {
	meter.Details
	// Proxies is the number of proxies that have answered. Silent lists the others.
	Proxies int
	Silent  []string
}

// DetailsFrom returns a function that asks all proxies about a digest, and adds up their figures.
func DetailsFrom(kv *etcd.KV) func(ctx context.Context, database, hash string) (meter.Details, error) {
	return func(ctx context.Context, database, hash string) (meter.Details, error) {
		cost, err := DigestCostOf(ctx, kv, database, hash)
		return cost.Details, err
	}
}

// DigestCostOf asks all proxies about a digest and adds up their answers. Its Count is 0 if no proxy has figures of it.
func DigestCostOf(ctx context.Context, kv *etcd.KV, database, hash string) (DigestCost, error) {
	answers, err := AskAbout[Packed[[]meter.Details]](ctx, kv, Digest, subjectOf(database, hash), statementsPatience)
	if err != nil {
		return DigestCost{}, err
	}
	slices.Sort(answers.Silent)
	sum := DigestCost{Proxies: len(answers.By), Silent: answers.Silent}
	for _, answer := range answers.By {
		for _, d := range answer.Value {
			sum.Add(d)
		}
	}
	return sum, nil
}

// Forget resets the statistics of statements on all proxies. The error names the proxies that have not
// confirmed it.
func Forget(ctx context.Context, kv *etcd.KV) error {
	answers, err := Ask[bool](ctx, kv, ForgetStatements, forgetPatience)
	if err != nil {
		return err
	}
	if len(answers.Silent) > 0 {
		slices.Sort(answers.Silent)
		return fmt.Errorf("not known to have started again: %s", strings.Join(answers.Silent, ", "))
	}
	return nil
}
