package overview

import (
	"time"

	"locus/config/etcd"
	"locus/control/doctor"
	"locus/control/fleet"
	"locus/control/watch"
	"locus/router/cluster"
)

// Seen is the data to summarize.
type Seen struct {
	Name     string // the cluster's name
	At       time.Time
	Declared *cluster.Cluster
	Cards    []fleet.Card
	// Before and Now are two sets of the proxies' beats. Rates are computed from their difference.
	Before, Now fleet.Answers[fleet.Beat]
	Moves       []watch.Seen
	Etcd        []etcd.Health // nil if its members were not queried
	Findings    []doctor.Finding
	// Blind is why etcd could not be read, so that the data are old.
	Blind error
	// Only is the one proxy whose figures and view of the shards are used; empty for all.
	Only string
}

// of returns the beats to compute figures from.
func (s Seen) of(beats fleet.Answers[fleet.Beat]) map[string]fleet.Beat {
	if s.Only == "" {
		return beats.By
	}
	one := map[string]fleet.Beat{}
	if b, there := beats.By[s.Only]; there {
		one[s.Only] = b
	}
	return one
}

// State is the state of the cluster.
type State struct {
	Cluster    string           `json:"cluster"`
	Well       bool             `json:"well"`
	Problems   int              `json:"problems"`
	Worst      string           `json:"worst,omitempty"` // of the problems, in one line
	At         time.Time        `json:"at"`
	MapVersion int64            `json:"map_version"`
	Sessions   int              `json:"sessions"`
	Holding    int64            `json:"holding"` // statements held while genes change hands
	Statements fleet.Rates      `json:"statements"`
	Etcd       []Etcd           `json:"etcd,omitempty"`
	Proxies    []Proxy          `json:"proxies"`
	Shards     []Shard          `json:"shards"`
	Moves      []Move           `json:"moves"`
	Findings   []doctor.Finding `json:"findings"`
}

// Etcd is a member of etcd.
type Etcd struct {
	Endpoint string `json:"endpoint"`
	Problem  string `json:"problem,omitempty"`
}

// Of summarizes the data.
func Of(seen Seen) *State {
	s := &State{
		Cluster: seen.Name, At: seen.At.UTC(), MapVersion: seen.Declared.Routes.Version(), Statements: fleet.Between(seen.Before.By, seen.of(seen.Now), ""),
		Etcd: members(seen.Etcd, seen.Blind), Proxies: proxies(seen), Shards: shards(seen), Moves: moves(seen.Moves, seen.At), Findings: seen.Findings,
	}
	for _, b := range seen.of(seen.Now) {
		s.Sessions += b.Sessions
		s.Holding += b.Holding
	}
	if s.Findings == nil {
		s.Findings = []doctor.Finding{}
	}
	s.judge()
	return s
}
