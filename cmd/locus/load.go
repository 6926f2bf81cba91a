package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/idgen/gene"
	"locus/proxy/meter"
)

// answerPatience bounds the wait for what proxies have counted.
const answerPatience = 3 * time.Second

// measured is what the proxies have counted by gene.
type measured struct {
	*meter.Loads
	proxies int
	silent  []string // proxies that did not tell
}

// measure asks all proxies for their load by gene.
func measure(ctx context.Context, kv *etcd.KV, w gene.Width) (*measured, error) {
	answers, err := fleet.Ask[meter.Load](ctx, kv, fleet.Load, answerPatience)
	if err != nil {
		return nil, err
	}
	if len(answers.By) == 0 {
		return nil, noneTells(answers.Silent)
	}
	reports := make([]meter.Load, 0, len(answers.By))
	for _, l := range answers.By {
		reports = append(reports, l)
	}
	slices.Sort(answers.Silent)
	return &measured{meter.Sum(w, reports...), len(reports), answers.Silent}, nil
}

// noneTells says why nothing is known of what the proxies do.
func noneTells(silent []string) error {
	if len(silent) > 0 {
		return fmt.Errorf("no proxy reports its load: %s", strings.Join(silent, ", "))
	}
	return errors.New("no proxy runs, so there is no load")
}

// whose says how much was asked, for people.
func (m *measured) whose() string {
	text := "counted by " + quantity(m.proxies, "proxy") + " in the last minutes"
	if len(m.silent) > 0 {
		text += "; no answer from " + strings.Join(m.silent, ", ")
	}
	return text
}

// part writes what share one is of all.
func part(of, all float64) string {
	if all <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*of/all)
}
