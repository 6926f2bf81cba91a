package overview

import (
	"fmt"
	"strings"
	"time"

	"locus/control/doctor"
	"locus/control/finding"
	"locus/control/fleet"
)

// Proxy is a running proxy.
type Proxy struct {
	ID         string    `json:"id"`
	Address    string    `json:"address"`
	Build      string    `json:"build,omitempty"`
	Started    time.Time `json:"started,omitzero"`
	Sessions   int       `json:"sessions"`
	MapVersion int64     `json:"map_version"`
	fleet.Rates
	Draining bool             `json:"draining,omitempty"` // the process was asked to stop, and will stop soon
	Problem  string           `json:"problem,omitempty"`
	Severity finding.Severity `json:"severity"`
}

func proxies(seen Seen) []Proxy {
	list := []Proxy{}
	for _, card := range seen.Cards {
		b, answered := seen.Now.By[card.ID]
		p := Proxy{
			ID: card.ID, Address: card.Addr, Build: card.Version, Started: card.Started, Sessions: b.Sessions, MapVersion: card.MapVersion, Draining: b.Draining,
			Problem: wrong(card, b, answered, seen.earlier().Routes.Version()),
		}
		p.Rates = fleet.Between(seen.Before.By, map[string]fleet.Beat{card.ID: b}, "")
		list = append(list, p)
	}
	return list
}

// wrong returns the problem of a proxy, or "".
func wrong(card fleet.Card, b fleet.Beat, answered bool, version int64) string {
	switch {
	case !answered:
		return "does not answer"
	case b.EtcdAway != "":
		return "can't reach etcd: " + b.EtcdAway
	case b.Refused != "":
		return "refuses the declarations: " + b.Refused
	case card.MapVersion < version && !b.Draining:
		return fmt.Sprintf("is behind version %d of the map", version)
	case b.Problems != "":
		return "can't serve: " + strings.ReplaceAll(b.Problems, "\n", "; ")
	}
	return ""
}

// proxiesFound returns the problems of proxies.
func proxiesFound(seen Seen) (list []finding.Finding) {
	if len(seen.Cards) == 0 && seen.Blind == nil {
		f := finding.New(finding.Outage, "proxies", "etcd", "locus serve -c locus.yaml", "no proxy is registered: none runs, or none reaches etcd")
		f.Title = "no proxy lives"
		return []finding.Finding{f}
	}
	add := func(f finding.Finding, title string) {
		f.Title = "proxy " + f.Where + " " + title
		list = append(list, f)
	}
	version := seen.earlier().Routes.Version()
	for _, card := range seen.Cards {
		id := card.ID
		b, answered := seen.Now.By[id]
		switch title := wrong(card, b, answered, version); {
		case title == "":
		case !answered && seen.Blind != nil:
			f := finding.New(finding.AtRisk, "etcd", id, "see etcd", "it can't be asked without etcd")
			f.Symptom = true
			add(f, title)
		case !answered:
			add(finding.New(silent(seen), "leases", id, "check its log and its machine; locus proxies evict "+id, "it renews its lease, and does not answer"), title)
		case b.EtcdAway != "":
			f := finding.New(finding.AtRisk, "etcd", id, "check the network between it and etcd", "it can't reach etcd, and serves an older state: %v", finding.Measure(b.EtcdAway))
			f.Symptom = true
			add(f, title)
		case b.Refused != "":
			add(finding.New(finding.AtRisk, "proxies", id, "declare something else (locus apply), or upgrade it", "it refuses the declarations, and serves an older state: %s", b.Refused), title)
		case card.MapVersion < version:
			add(finding.New(finding.AtRisk, "map versions", id, "check its log (is a declaration refused, or etcd unreachable?); locus proxies evict "+id,
				"it obeys version %d of the map, and %d is in force", card.MapVersion, version), title)
		}
		for line := range strings.Lines(b.Problems) {
			list = append(list, doctor.OfTable(finding.Outage, strings.TrimSpace(line)))
		}
	}
	return list
}

// silent returns the severity of a proxy that does not answer, which depends on whether others serve.
func silent(seen Seen) finding.Severity {
	if len(seen.Now.By) == 0 {
		return finding.Outage
	}
	return finding.AtRisk
}
