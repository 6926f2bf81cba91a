package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/config/etcd"
	"locus/control/doctor"
	"locus/control/fleet"
	"locus/control/watch"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/health"
	"locus/router/cluster"
)

func statusCommand(in *invocation) *cobra.Command {
	quick := false
	c := &cobra.Command{
		Use:   "status",
		Short: "Tell on one screen whether all is well",
		Long: `Tell on one screen whether all is well: etcd, the proxies, the shards as the
proxies see them, with the statements of one second, moves, and what locus doctor
finds. With --quick the shards and etcd's members are not asked, but the proxies
alone, which takes no secrets.

The exit status is 0 if all is well, and 1 if something is not, or could not be
found out.`,
		Example: `  locus status
  locus status --quick -o json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				return in.status(command.Context(), conn, c, quick)
			})
		},
	}
	c.Flags().BoolVar(&quick, "quick", false, "ask the proxies alone")
	return c
}

// beatsApart is between the two looks that rates are made of.
const beatsApart = time.Second

// status is what status shows.
type status struct {
	Cluster    string           `json:"cluster"`
	Well       bool             `json:"well"`
	Problems   int              `json:"problems"`
	At         time.Time        `json:"at"`
	Statements fleet.Rates      `json:"statements"`
	Etcd       []etcdStatus     `json:"etcd,omitempty"`
	Proxies    []proxyStatus    `json:"proxies"`
	Shards     []shardStatus    `json:"shards"`
	Moves      []moveStatus     `json:"moves"`
	Findings   []doctor.Finding `json:"findings"`
}

type etcdStatus struct {
	Endpoint string `json:"endpoint"`
	Problem  string `json:"problem,omitempty"`
}

type proxyStatus struct {
	ID         string `json:"id"`
	Address    string `json:"address"`
	Sessions   int    `json:"sessions"`
	MapVersion int64  `json:"map_version"`
	Problem    string `json:"problem,omitempty"`
}

type shardStatus struct {
	Name    string  `json:"name"`
	Address string  `json:"address"`
	Genes   float64 `json:"genes_percent"`
	fleet.Rates
	InUse   int    `json:"connections_in_use"`
	Limit   int    `json:"connections_limit"`
	Waiting int    `json:"waiting"`
	State   string `json:"state"` // of the worst of its servers, as the proxies see them; unknown: none tells
	Problem string `json:"problem,omitempty"`
}

type moveStatus struct {
	ID       string      `json:"id"`
	Phase    phase.Phase `json:"phase"`
	AtTarget float64     `json:"percent"`
	From     string      `json:"from"`
	To       string      `json:"to"`
	Problem  string      `json:"problem,omitempty"`
}

func (in *invocation) status(ctx context.Context, conn *connection, c *cluster.Cluster, quick bool) error {
	before, err := fleet.Beats(ctx, conn.kv)
	if err != nil {
		return err
	}
	next := time.After(beatsApart)
	s := &status{Cluster: conn.config.Cluster, At: in.now().UTC(), Findings: []doctor.Finding{}}
	if !quick {
		report, err := in.examine(ctx, conn, c)
		if err != nil {
			return err
		}
		s.Findings = report.Findings
		s.etcd(conn.client.Health(ctx))
	}
	cards, err := fleet.Cards(ctx, conn.kv)
	if err != nil {
		return err
	}
	if err := s.moves(ctx, in, conn); err != nil {
		return err
	}
	select {
	case <-next:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	after, err := fleet.Beats(ctx, conn.kv)
	if err != nil {
		return err
	}
	s.proxies(cards, after, c.Routes.Version())
	s.shards(c, before.By, after.By)
	s.Statements = fleet.Between(before.By, after.By, "")
	s.judge()
	if err := in.show(s, s.print); err != nil {
		return err
	}
	if !s.Well {
		return errors.New(quantity(s.Problems, "thing") + " not well")
	}
	return nil
}

func (s *status) etcd(all []etcd.Health) {
	for _, h := range all {
		e := etcdStatus{Endpoint: h.Endpoint}
		switch {
		case h.Err != nil:
			e.Problem = "does not answer: " + h.Err.Error()
		case !h.Leader:
			e.Problem = "knows of no leader"
		case len(h.Alarms) > 0:
			e.Problem = strings.Join(h.Alarms, ", ")
		}
		s.Etcd = append(s.Etcd, e)
	}
}

func (s *status) proxies(cards []fleet.Card, beats fleet.Answers[fleet.Beat], version int64) {
	s.Proxies = []proxyStatus{}
	for _, card := range cards {
		b, answered := beats.By[card.ID]
		p := proxyStatus{ID: card.ID, Address: card.Addr, Sessions: b.Sessions, MapVersion: card.MapVersion}
		switch {
		case !answered:
			p.Problem = "does not answer"
		case b.Draining:
			p.Problem = "is about to stop"
		case b.EtcdAway != "":
			p.Problem = "etcd is away: " + b.EtcdAway
		case b.Refused != "":
			p.Problem = "refuses what is declared: " + b.Refused
		case card.MapVersion < version:
			p.Problem = fmt.Sprintf("is behind version %d of the map", version)
		case b.Problems != "":
			p.Problem = "can't serve: " + strings.ReplaceAll(b.Problems, "\n", "; ")
		}
		s.Proxies = append(s.Proxies, p)
	}
}

func (s *status) shards(c *cluster.Cluster, before, after map[string]fleet.Beat) {
	all := float64(int(c.Settings.GeneBits.Last()) + 1)
	for _, name := range c.ShardNames() {
		sh := shardStatus{
			Name: string(name), Address: c.Shards[name].Address, Genes: 100 * float64(c.Routes.GenesOf(name).Len()) / all,
			Rates: fleet.Between(before, after, string(name)),
		}
		blocked, worst := int64(0), health.Status{}
		for _, b := range after {
			for _, server := range b.Servers {
				if server.Shard == name && severity(server) > severity(worst) {
					worst = server
				}
			}
			p := b.Pools[string(name)]
			sh.InUse, sh.Limit, sh.Waiting = sh.InUse+p.InUse, sh.Limit+p.Limit, sh.Waiting+p.Waiting
			blocked = max(blocked, p.BlockedMs)
		}
		if sh.State = worst.State.String(); len(after) == 0 {
			sh.State = "unknown"
		}
		switch {
		case worst.Unwell():
			sh.Problem = fmt.Sprintf("the %s at %s is %s: %s", worst.Role(), worst.Addr, worst.State, cmp.Or(worst.Why, "it takes no writes"))
		case blocked > 0:
			sh.Problem = fmt.Sprintf("logins fail; the next one is tried in %v", (time.Duration(blocked) * time.Millisecond).Round(100*time.Millisecond))
		case sh.Waiting > 0:
			sh.Problem = quantity(sh.Waiting, "session") + " waiting for a connection"
		}
		s.Shards = append(s.Shards, sh)
	}
}

// severity orders servers: what stops writes comes before replicas.
func severity(s health.Status) int {
	if s.Replica || s.State == health.Well {
		return int(s.State)
	}
	return len(health.States) + int(s.State)
}

func (s *status) moves(ctx context.Context, in *invocation, conn *connection) error {
	s.Moves = []moveStatus{}
	list, _, err := (&watch.Watcher{Source: in.jobsOf(conn)}).Look(ctx)
	if err != nil {
		return err
	}
	for _, seen := range list {
		j, r := seen.Job, seen.Report
		m := moveStatus{j.ID, j.State.Shown(), j.State.Percent(), string(j.From), string(j.To), ""}
		switch silent := job.See(j, seen.Earlier, r, time.Now()).Silent; {
		case m.Phase == phase.Failed:
			m.Problem = "has failed: " + j.State.Why
		case r.Trouble != "":
			m.Problem = r.Trouble
		case silent > 0:
			m.Problem = "nobody has reported for " + watch.Rounded(silent)
		}
		s.Moves = append(s.Moves, m)
	}
	return nil
}

// judge counts what is not well. What a finding is about too counts once.
func (s *status) judge() {
	found := map[string]bool{}
	for _, f := range s.Findings {
		where, _, _ := strings.Cut(f.Where, " at ") // a server is one of its shard's
		found[where] = true
	}
	s.Problems = len(s.Findings)
	count := func(where, problem string) {
		if problem != "" && !found[where] {
			s.Problems++
		}
	}
	for _, e := range s.Etcd {
		count(e.Endpoint, e.Problem)
	}
	for _, p := range s.Proxies {
		count(p.ID, p.Problem)
	}
	for _, sh := range s.Shards {
		count(sh.Name, sh.Problem)
	}
	for _, m := range s.Moves {
		count(m.ID, m.Problem)
	}
	if len(s.Proxies) == 0 && !slices.ContainsFunc(s.Findings, func(f doctor.Finding) bool { return f.Check == "proxies" }) {
		s.Problems++
	}
	s.Well = s.Problems == 0
}

func (s *status) print(w io.Writer) {
	verdict := "all is well"
	if !s.Well {
		verdict = quantity(s.Problems, "thing") + " not well"
	}
	fmt.Fprintf(w, "cluster %s: %s\n", s.Cluster, verdict)
	r := s.Statements
	fmt.Fprintf(w, "%s statements/s, %s errors/s, p50 %s ms, p99 %s ms\n\n",
		watch.Rate(r.PerSecond), watch.Rate(r.Errors), watch.Rate(r.P50Ms), watch.Rate(r.P99Ms))
	rows := [][]string{{"SHARD", "ADDRESS", "GENES", "STATEMENTS/S", "ERRORS/S", "P50 MS", "P99 MS", "CONNECTIONS", "STATE"}}
	for _, sh := range s.Shards {
		rows = append(rows, []string{
			sh.Name, sh.Address, fmt.Sprintf("%.4g %%", sh.Genes), watch.Rate(sh.PerSecond), watch.Rate(sh.Errors), watch.Rate(sh.P50Ms), watch.Rate(sh.P99Ms),
			fmt.Sprintf("%d of %d", sh.InUse, sh.Limit), cmp.Or(sh.Problem, sh.State),
		})
	}
	columns(w, rows)
	rows = [][]string{{"\nPROXY", "ADDRESS", "SESSIONS", "MAP VERSION", "STATE"}}
	for _, p := range s.Proxies {
		rows = append(rows, []string{p.ID, p.Address, strconv.Itoa(p.Sessions), strconv.FormatInt(p.MapVersion, 10), cmp.Or(p.Problem, "well")})
	}
	if len(s.Proxies) == 0 {
		rows = append(rows, []string{"none lives: locus serve -c locus.yaml", "", "", "", ""})
	}
	columns(w, rows)
	if len(s.Etcd) > 0 {
		rows = [][]string{{"\nETCD", "STATE"}}
		for _, e := range s.Etcd {
			rows = append(rows, []string{e.Endpoint, cmp.Or(e.Problem, "well")})
		}
		columns(w, rows)
	}
	if len(s.Moves) > 0 {
		rows = [][]string{{"\nMOVE", "PHASE", "AT TARGET", "FROM", "TO", "STATE"}}
		for _, m := range s.Moves {
			rows = append(rows, []string{m.ID, string(m.Phase), watch.Percent(m.AtTarget), m.From, m.To, cmp.Or(m.Problem, "well")})
		}
		columns(w, rows)
	}
	if len(s.Findings) > 0 {
		fmt.Fprintln(w, "\ndoctor:")
	}
	for _, f := range s.Findings {
		fmt.Fprintf(w, "%s, %s: %s\n  remedy: %s\n", f.Where, f.Check, f.What, f.Remedy)
	}
}
