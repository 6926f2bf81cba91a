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

// How many digests are told, and how much of their texts.
const (
	toldDigests, toldLetters       = 300, 500
	toldTopDigests, toldTopLetters = 50, 200
)

// How long proxies have to answer.
const (
	statementsPatience = 3 * time.Second
	forgetPatience     = 5 * time.Second
)

// StatementsTold is what a proxy answers to Statements.
func StatementsTold(s *meter.Statements) any {
	return Packed[meter.Report]{s.Report(time.Now(), toldDigests, toldLetters)}
}

// TopTold is what a proxy answers to Top.
func TopTold(s *meter.Statements) any {
	return Packed[meter.Report]{s.Report(time.Now(), toldTopDigests, toldTopLetters)}
}

// StatementsForgotten is what a proxy answers to ForgetStatements.
func StatementsForgotten(s *meter.Statements) any {
	s.Forget(time.Now())
	return true
}

// Cost is what all proxies' statements have cost.
type Cost struct {
	meter.Report
	// Proxies is how many have told, Silent those that have not.
	Proxies int
	Silent  []string
}

// StatementsOf asks all proxies and adds up their answers; with Top, in short.
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

// Forget has all proxies' figures of statements begin anew. The error names those that
// did not say that theirs do.
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
