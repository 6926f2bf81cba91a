package overview

import (
	"fmt"
	"strings"
	"time"

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
	Problem string `json:"problem,omitempty"`
	down    bool   // it doesn't answer
}

func proxies(seen Seen) []Proxy {
	list := []Proxy{}
	for _, card := range seen.Cards {
		b, answered := seen.Now.By[card.ID]
		p := Proxy{ID: card.ID, Address: card.Addr, Build: card.Version, Started: card.Started, Sessions: b.Sessions, MapVersion: card.MapVersion, down: !answered}
		p.Rates = fleet.Between(seen.Before.By, map[string]fleet.Beat{card.ID: b}, "")
		p.Problem = wrong(card, b, answered, seen.Declared.Routes.Version())
		list = append(list, p)
	}
	return list
}

// wrong returns the problem of a proxy, or "".
func wrong(card fleet.Card, b fleet.Beat, answered bool, version int64) string {
	switch {
	case !answered:
		return "does not answer"
	case b.Draining:
		return "is about to stop"
	case b.EtcdAway != "":
		return "etcd is away: " + b.EtcdAway
	case b.Refused != "":
		return "refuses what is declared: " + b.Refused
	case card.MapVersion < version:
		return fmt.Sprintf("is behind version %d of the map", version)
	case b.Problems != "":
		return "can't serve: " + strings.ReplaceAll(b.Problems, "\n", "; ")
	}
	return ""
}
