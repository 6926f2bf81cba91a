package overview

import (
	"time"

	"locus/config/etcd"
	"locus/control/finding"
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
	// Earlier is the declaration at the time of Before; nil: the same as Declared. Differences between the two
	// may be changes that are in progress.
	Earlier *cluster.Cluster
	Moves   []watch.Seen
	Etcd    []etcd.Health // nil if its members were not queried
	Notes
	// Findings are those of locus doctor.
	Findings []finding.Finding
	// Blind is why etcd could not be read, so that the data are old.
	Blind error
	// Only is the proxy whose figures are used; empty for all proxies. The findings are always those of the whole cluster.
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

// earlier returns the declaration at the time of Before.
func (s Seen) earlier() *cluster.Cluster {
	if s.Earlier != nil {
		return s.Earlier
	}
	return s.Declared
}

// State is the state of the cluster.
type State struct {
	Cluster string `json:"cluster"`
	// Well reports whether clients are served and nothing threatens that: no finding is an outage or at risk.
	Well bool `json:"well"`
	finding.Summary
	Problems   int               `json:"problems"`        // open findings that are an outage or at risk
	Worst      string            `json:"worst,omitempty"` // the worst of these problems, in one line
	At         time.Time         `json:"at"`
	MapVersion int64             `json:"map_version"`
	Sessions   int               `json:"sessions"`
	Holding    int64             `json:"holding"` // statements held while genes change hands
	Statements fleet.Rates       `json:"statements"`
	Etcd       []Etcd            `json:"etcd,omitempty"`
	Proxies    []Proxy           `json:"proxies"`
	Shards     []Shard           `json:"shards"`
	Moves      []Move            `json:"moves"`
	Findings   []finding.Finding `json:"findings"`
}

// Etcd is a member of etcd.
type Etcd struct {
	Endpoint string           `json:"endpoint"`
	Problem  string           `json:"problem,omitempty"`
	Severity finding.Severity `json:"severity"`
}

// Of summarizes the data.
func Of(seen Seen) *State {
	s := &State{
		Cluster: seen.Name, At: seen.At.UTC(), MapVersion: seen.Declared.Routes.Version(), Statements: fleet.Between(seen.Before.By, seen.of(seen.Now), ""),
		Etcd: members(seen.Etcd, seen.Blind), Proxies: proxies(seen), Shards: shards(seen), Moves: moves(seen.Moves, seen.At),
	}
	for _, b := range seen.of(seen.Now) {
		s.Sessions += b.Sessions
		s.Holding += b.Holding
	}
	s.judge(findings(seen))
	return s
}
