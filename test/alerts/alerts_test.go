package alerts

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

const alerts = "../../deploy/prometheus/alerts.yaml"

// rule is an alert of deploy/prometheus/alerts.yaml.
type rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(alerts)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []rule } }
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// A fault begins after ten minutes in which all was well. A series has a value each 15 s.
const (
	every  = 15 * time.Second
	began  = 10 * time.Minute
	before = int(began/every) - 1
)

// Values of series: LAST stands for the number of samples after the fault, and ALL for
// all. steady is a gauge that stays, and growing a counter that grows by so much a sample.
func steady(v float64) string   { return fmt.Sprintf("%gxALL", v) }
func growing(by float64) string { return fmt.Sprintf("0+%gxALL", by) }

// turned is a gauge that is another one from the fault on, and rising a counter that
// begins to grow then.
func turned(from, to float64) string { return fmt.Sprintf("%gx%d %gxLAST", from, before, to) }
func rising(by float64) string       { return fmt.Sprintf("0x%d 0+%gxLAST", before, by) }

// well returns the series of a healthy cluster.
func well() map[string]string {
	all := map[string]string{
		`locus_backend_connections{instance="p1",shard="s0",state="in_use"}`:                                      steady(10),
		`locus_backend_connections_limit{instance="p1",shard="s0"}`:                                               steady(100),
		`locus_backend_login_failures_total{instance="p1",shard="s0"}`:                                            growing(0),
		`locus_backend_waiting{instance="p1",shard="s0"}`:                                                         steady(0),
		`locus_replica_usable{instance="p1",shard="s0",addr="r"}`:                                                 steady(1),
		`locus_id_sequence_left{instance="p1",table="t",layout="int64"}`:                                          steady(0.9),
		`locus_generator_left{instance="p1",generator="g",field="sequence"}`:                                      steady(0.9),
		`locus_generator_breakers{instance="p1",generator="g",before="b",state="open"}`:                           steady(0),
		`locus_generator_members{instance="p1",generator="g",member="m",state="slow"}`:                            steady(0),
		`locus_generator_members{instance="p1",generator="g",member="m",state="well"}`:                            steady(1),
		`locus_move_phase{instance="p1",move="m-1",from="s0",to="s1",phase="copying"}`:                            steady(1),
		`locus_move_trouble{instance="p1",move="m-1",from="s0",to="s1"}`:                                          steady(0),
		`locus_move_reported_seconds{instance="p1",move="m-1",from="s0",to="s1"}`:                                 steady(0.2),
		`locus_move_conflicts{instance="p1",move="m-1",from="s0",to="s1"}`:                                        steady(0),
		`locus_move_last_hold_seconds{instance="p1",move="m-1",from="s0",to="s1"}`:                                steady(0.01),
		`locus_move_lag_seconds{instance="p1",move="m-1",from="s0",to="s1",stream="forward"}`:                     steady(0.01),
		`locus_statement_duration_seconds_count{instance="p1",kind="select",shard="s0",outcome="ok"}`:             growing(1500),
		`locus_statement_duration_seconds_count{instance="p1",kind="select",shard="s0",outcome="error"}`:          growing(1),
		`locus_statement_duration_seconds_bucket{instance="p1",kind="select",shard="s0",outcome="ok",le="0.001"}`: growing(1499),
		`locus_statement_duration_seconds_bucket{instance="p1",kind="select",shard="s0",outcome="ok",le="2.5"}`:   growing(1500),
		`locus_statement_duration_seconds_bucket{instance="p1",kind="select",shard="s0",outcome="ok",le="+Inf"}`:  growing(1500),
	}
	for _, instance := range []string{"p1", "p2"} {
		for name, values := range map[string]string{
			"source_up": steady(1), "declaration_refused": steady(0), "route_map_version": steady(7), "branches_in_doubt": steady(0),
			"statements_holding": steady(0), "statements_total": growing(1500), "statements_failed_total": growing(0), "statements_slow_total": growing(0),
			"connections_refused_total": growing(0), "key_ring_refused": steady(0), "key_version": steady(2), "key_rotation_due_seconds": steady(86400),
			"findings_acknowledged": steady(2),
			"statement_digests":     steady(50), "statement_digests_limit": steady(4000),
		} {
			all[fmt.Sprintf("locus_%s{instance=%q}", name, instance)] = values
		}
		all[fmt.Sprintf(`up{job="locus",instance=%q}`, instance)] = steady(1)
		for severity, n := range map[string]float64{"outage": 0, "at-risk": 0, "advice": 3} {
			all[fmt.Sprintf(`locus_findings{instance=%q,severity=%q}`, instance, severity)] = steady(n)
		}
	}
	return all
}

// fault is the cause that makes one alert fire.
type fault struct {
	series map[string]string
	labels map[string]string // of the alert
	// silent and fires are how long after the fault began it does not yet fire, and does.
	silent, fires time.Duration
}

func labels(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// faults has one for each alert; another one is added to both.
var faults = map[string]fault{
	"LocusProxyAway":          {map[string]string{`up{job="locus",instance="p1"}`: turned(1, 0)}, labels("instance", "p1", "job", "locus"), 45 * time.Second, time.Minute},
	"LocusOutage":             {map[string]string{`locus_findings{instance="p1",severity="outage"}`: turned(0, 1)}, labels(), 0, 30 * time.Second},
	"LocusAtRisk":             {map[string]string{`locus_findings{instance="p1",severity="at-risk"}`: turned(0, 2)}, labels(), 285 * time.Second, 5 * time.Minute},
	"LocusEtcdAway":           {map[string]string{`locus_source_up{instance="p1"}`: turned(1, 0)}, labels("instance", "p1"), 105 * time.Second, 2 * time.Minute},
	"LocusDeclarationRefused": {map[string]string{`locus_declaration_refused{instance="p1"}`: turned(0, 1)}, labels("instance", "p1"), 45 * time.Second, time.Minute},
	"LocusMapVersionsDiffer":  {map[string]string{`locus_route_map_version{instance="p2"}`: turned(7, 8)}, labels(), 105 * time.Second, 2 * time.Minute},
	"LocusServerUnwell": {
		series: map[string]string{`locus_server_state{instance="p1",shard="s0",addr="a",role="replica",state="slow"}`: turned(0, 1)},
		labels: labels("shard", "s0", "addr", "a", "state", "slow"), silent: -15 * time.Second, fires: 0,
	},
	"LocusServerDown": {
		map[string]string{`locus_server_state{instance="p1",shard="s0",addr="a",role="primary",state="frozen"}`: turned(0, 1)},
		labels("shard", "s0", "addr", "a", "state", "frozen"), 15 * time.Second, 45 * time.Second,
	},
	"LocusServerSlow": {
		map[string]string{`locus_server_state{instance="p1",shard="s0",addr="a",role="primary",state="slow"}`: turned(0, 1)},
		labels("shard", "s0", "addr", "a"), 45 * time.Second, time.Minute,
	},
	"LocusServerReadOnly": {
		map[string]string{`locus_server_state{instance="p1",shard="s0",addr="a",role="primary",state="read-only"}`: turned(0, 1)},
		labels("shard", "s0", "addr", "a"), 45 * time.Second, time.Minute,
	},
	"LocusPrimaryUnclear": {map[string]string{`locus_primary_trouble{instance="p1",shard="s0"}`: turned(0, 1)}, labels("shard", "s0"), 0, 30 * time.Second},
	"LocusPrimaryMayLose": {map[string]string{`locus_primary_may_lose{instance="p1",shard="s0"}`: turned(0, 1)}, labels("shard", "s0"), 45 * time.Second, time.Minute},
	"LocusPrimaryWaits":   {map[string]string{`locus_primary_waits{instance="p1",shard="s0"}`: turned(0, 1)}, labels("shard", "s0"), 0, 30 * time.Second},
	"LocusServersErrant":  {map[string]string{`locus_servers_errant{instance="p1",shard="s0"}`: turned(0, 1)}, labels("shard", "s0"), 45 * time.Second, time.Minute},
	"LocusShardUnreachable": {
		map[string]string{`locus_backend_login_failures_total{instance="p1",shard="s0"}`: rising(1)},
		labels("shard", "s0"), time.Minute, 90 * time.Second,
	},
	"LocusConnectionsExhausted": {map[string]string{`locus_backend_waiting{instance="p1",shard="s0"}`: turned(0, 3)}, labels("instance", "p1", "shard", "s0"), 45 * time.Second, time.Minute},
	"LocusBranchesInDoubt":      {map[string]string{`locus_branches_in_doubt{instance="p1"}`: turned(0, 1)}, labels("instance", "p1"), 45 * time.Second, time.Minute},
	"LocusStatementsHeld":       {map[string]string{`locus_statements_holding{instance="p1"}`: turned(0, 5)}, labels("instance", "p1"), 15 * time.Second, 45 * time.Second},
	"LocusStatementsFail":       {map[string]string{`locus_statements_failed_total{instance="p1"}`: rising(150)}, labels("instance", "p1"), 5 * time.Minute, 6 * time.Minute},
	"LocusStatementsSlow":       {map[string]string{`locus_statements_slow_total{instance="p1"}`: rising(150)}, labels("instance", "p1"), 10 * time.Minute, 11 * time.Minute},
	"LocusClientsTurnedAway":    {map[string]string{`locus_connections_refused_total{instance="p1"}`: rising(1)}, labels("instance", "p1"), time.Minute, 90 * time.Second},
	"LocusReplicaUnusable":      {map[string]string{`locus_replica_usable{instance="p1",shard="s0",addr="r"}`: turned(1, 0)}, labels("instance", "p1", "shard", "s0", "addr", "r"), 285 * time.Second, 5 * time.Minute},
	"LocusSequenceRunsOut":      {map[string]string{`locus_id_sequence_left{instance="p1",table="t",layout="int64"}`: turned(0.3, 0.1)}, labels("instance", "p1", "table", "t", "layout", "int64"), 285 * time.Second, 5 * time.Minute},
	"LocusKeyRingRefused":       {map[string]string{`locus_key_ring_refused{instance="p1"}`: turned(0, 1)}, labels("instance", "p1"), 45 * time.Second, time.Minute},
	"LocusKeyRotationDue":       {map[string]string{`locus_key_rotation_due_seconds{instance="p1"}`: turned(60, -60)}, labels(), 59 * time.Minute, time.Hour},
	"LocusKeyVersionsDiffer":    {map[string]string{`locus_key_version{instance="p2"}`: turned(2, 3)}, labels(), 285 * time.Second, 5 * time.Minute},
	"LocusGeneratorRunsOut":     {map[string]string{`locus_generator_left{instance="p1",generator="g",field="sequence"}`: turned(0.3, 0.1)}, labels("instance", "p1", "generator", "g", "field", "sequence"), 285 * time.Second, 5 * time.Minute},
	"LocusGeneratorStoreAway":   {map[string]string{`locus_generator_breakers{instance="p1",generator="g",before="b",state="open"}`: turned(0, 1)}, labels("instance", "p1", "generator", "g", "before", "b"), 45 * time.Second, time.Minute},
	"LocusGeneratorMember":      {map[string]string{`locus_generator_members{instance="p1",generator="g",member="m",state="slow"}`: turned(0, 1)}, labels("instance", "p1", "generator", "g", "member", "m"), 45 * time.Second, time.Minute},
	"LocusErrors": {
		map[string]string{`locus_statement_duration_seconds_count{instance="p1",kind="select",shard="s0",outcome="error"}`: rising(600)},
		labels("shard", "s0"), 10 * time.Minute, 14 * time.Minute,
	},
	"LocusLatency": {
		map[string]string{`locus_statement_duration_seconds_bucket{instance="p1",kind="select",shard="s0",outcome="ok",le="0.001"}`: fmt.Sprintf("0+1499x%d %d+750xLAST", before, 1499*before)},
		labels("shard", "s0"), 9 * time.Minute, 12 * time.Minute,
	},
	"LocusConnectionsScarce": {map[string]string{`locus_backend_connections{instance="p1",shard="s0",state="in_use"}`: turned(10, 95)}, labels("instance", "p1", "shard", "s0"), 285 * time.Second, 5 * time.Minute},
	"LocusMoveFailed": {
		map[string]string{
			`locus_move_phase{instance="p1",move="m-1",from="s0",to="s1",phase="copying"}`: steady(0),
			`locus_move_phase{instance="p1",move="m-1",from="s0",to="s1",phase="failed"}`:  turned(0, 1),
		},
		labels("move", "m-1", "from", "s0", "to", "s1"), 45 * time.Second, time.Minute,
	},
	"LocusMoveTrouble":    {map[string]string{`locus_move_trouble{instance="p1",move="m-1",from="s0",to="s1"}`: turned(0, 1)}, labels("move", "m-1", "from", "s0", "to", "s1"), 105 * time.Second, 2 * time.Minute},
	"LocusMoveUnattended": {map[string]string{`locus_move_reported_seconds{instance="p1",move="m-1",from="s0",to="s1"}`: turned(0.2, 40)}, labels("move", "m-1", "from", "s0", "to", "s1"), 45 * time.Second, time.Minute},
	"LocusMoveLag": {
		map[string]string{`locus_move_lag_seconds{instance="p1",move="m-1",from="s0",to="s1",stream="forward"}`: turned(0.1, 60)},
		labels("move", "m-1", "from", "s0", "to", "s1", "stream", "forward"), 285 * time.Second, 5 * time.Minute,
	},
	"LocusMoveConflicts": {map[string]string{`locus_move_conflicts{instance="p1",move="m-1",from="s0",to="s1"}`: turned(0, 2)}, labels("move", "m-1", "from", "s0", "to", "s1"), 45 * time.Second, time.Minute},
	"LocusMoveHolds":     {map[string]string{`locus_move_last_hold_seconds{instance="p1",move="m-1",from="s0",to="s1"}`: turned(0.01, 1.5)}, labels("move", "m-1", "from", "s0", "to", "s1"), -15 * time.Second, 0},
	"LocusDigestsFull":   {map[string]string{`locus_statement_digests{instance="p1"}`: turned(50, 4000)}, labels("instance", "p1"), 59 * time.Minute, 61 * time.Minute},
}

// besides maps an alert to the alerts that its fault makes fire too, at once or after some time.
var besides = map[string][]string{
	"LocusServerDown":     {"LocusServerUnwell"},
	"LocusServerSlow":     {"LocusServerUnwell"},
	"LocusServerReadOnly": {"LocusServerUnwell"},
}

// Each alert fires for its fault, when it is to, and none fires for another's.
func TestAlertsFireForTheirFaults(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatal("promtool is not installed: test/install/servers.sh test")
	}
	all := rules(t)
	var b strings.Builder
	path, err := filepath.Abs(alerts)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "rule_files: [%s]\nevaluation_interval: 15s\ntests:\n", path)
	for _, r := range all {
		f, known := faults[r.Alert]
		if !known {
			t.Errorf("no fault makes %s fire", r.Alert)
			continue
		}
		writeFault(&b, r, f, all)
	}
	for name := range faults {
		if !slices.ContainsFunc(all, func(r rule) bool { return r.Alert == name }) {
			t.Errorf("%s is no alert", name)
		}
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func writeFault(b *strings.Builder, r rule, f fault, all []rule) {
	series := well()
	maps.Copy(series, f.series)
	fmt.Fprintf(b, "- name: %s\n  interval: 15s\n  input_series:\n", r.Alert)
	last := int((f.fires+time.Minute)/every) + 1
	samples := strings.NewReplacer("LAST", strconv.Itoa(last), "ALL", strconv.Itoa(before+last))
	for _, name := range slices.Sorted(maps.Keys(series)) {
		fmt.Fprintf(b, "  - {series: '%s', values: '%s'}\n", name, samples.Replace(series[name]))
	}
	b.WriteString("  alert_rule_test:\n")
	summary := r.Annotations["summary"]
	for name, value := range f.labels {
		summary = strings.ReplaceAll(summary, "{{ $labels."+name+" }}", value)
	}
	fmt.Fprintf(b, "  - {eval_time: %s, alertname: %s}\n", began+f.silent, r.Alert)
	fmt.Fprintf(b, "  - eval_time: %s\n    alertname: %s\n    exp_alerts:\n    - exp_labels: {severity: %s", began+f.fires, r.Alert, r.Labels["severity"])
	for _, name := range slices.Sorted(maps.Keys(f.labels)) {
		fmt.Fprintf(b, ", %s: %s", name, f.labels[name])
	}
	fmt.Fprintf(b, "}\n      exp_annotations: {summary: %q}\n", summary)
	for _, other := range all {
		if other.Alert != r.Alert && !slices.Contains(besides[r.Alert], other.Alert) {
			fmt.Fprintf(b, "  - {eval_time: %s, alertname: %s}\n", began+f.fires, other.Alert)
		}
	}
}
