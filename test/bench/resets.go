package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	resetsFigure    = "single-shard rows: resets per 1,000 statements"
	metricsPatience = 10 * time.Second
)

// lending counts the statements and the resets of connections by a proxy.
type lending struct{ statements, resets float64 }

// lending reads the counts of the first proxy. They are unknown if its ready file has no address of the pages.
func (s *stand) lending(ctx context.Context) (lending, error) {
	at := s.ready.HTTP
	if at.URL == "" {
		return lending{math.NaN(), math.NaN()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, metricsPatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(at.URL, "/")+"/metrics", nil)
	if err != nil {
		return lending{}, fmt.Errorf("ask for metrics: %w", err)
	}
	ask.SetBasicAuth(at.User, at.Password)
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return lending{}, fmt.Errorf("ask for metrics: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return lending{}, fmt.Errorf("ask for metrics: %s", answer.Status)
	}
	return readLending(answer.Body)
}

// readLending adds up the two metrics over their labels.
func readLending(metrics io.Reader) (lending, error) {
	var l lending
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		name, _, _ = strings.Cut(name, "{")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "locus_statements_total":
			l.statements += n
		case "locus_backend_resets_total":
			l.resets += n
		}
	}
	return l, lines.Err()
}

// lent runs one row, and adds the first proxy's counts during it.
func (s *stand) lent(ctx context.Context, r *report, row func() error) error {
	before, err := s.lending(ctx)
	if err != nil {
		return err
	}
	if err := row(); err != nil {
		return err
	}
	after, err := s.lending(ctx)
	r.lent.statements += after.statements - before.statements
	r.lent.resets += after.resets - before.resets
	return err
}

// lentFigure returns the resets of all single-shard rows, if any were measured. Their statements leave no
// session state, so there should be none.
func (r *report) lentFigure() []figure {
	if !(r.lent.statements > 0) { // also if they are unknown (NaN)
		return nil
	}
	share := 1000 * r.lent.resets / r.lent.statements
	return []figure{{
		name: resetsFigure, value: single(share), judged: share, digits: 2, bound: bound{atMost, 0, 0},
		detail: fmt.Sprintf("%.0f statements", r.lent.statements),
	}}
}
