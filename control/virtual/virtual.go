// Package virtual is the schema locus for any MySQL client: tables of jobs and their steps, shards, servers, routes, proxies, declared
// tables and statements, and the procedures by which admins request operations.
//
// It owns the columns of the tables, the sources of their rows, and the arguments and results of the procedures. It never checks or
// carries out a request, which package ops does, and never decides who may use the schema, which the session does.
package virtual

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/health"
	"locus/proxy/meter"
	"locus/proxy/sysvars"
	"locus/router"
	"locus/router/catalog"
)

// Schema provides the tables of one cluster. Each query reads etcd or asks the proxies. It is safe for
// concurrent use.
type Schema struct {
	kv       *etcd.KV
	jobs     *jobs.Store
	findings func(context.Context) ([]finding.Finding, error)
}

// New returns the tables of the cluster whose keys are in kv. findings returns the cluster's findings.
func New(kv *etcd.KV, store *jobs.Store, findings func(context.Context) ([]finding.Finding, error)) *Schema {
	return &Schema{kv, store, findings}
}

var _ sysvars.Virtual = (*Schema)(nil)

// table is one of the tables.
type table struct {
	name    string
	columns []sysvars.VirtualColumn
	rows    func(*Schema, context.Context) ([][]any, error)
}

// columns parses a list of the form "name type, …".
func columns(text string) []sysvars.VirtualColumn {
	types := map[string]sysvars.VirtualType{
		"text": sysvars.VirtualText, "int": sysvars.VirtualInteger, "number": sysvars.VirtualNumber, "time": sysvars.VirtualTime,
	}
	var list []sysvars.VirtualColumn
	for _, field := range strings.Split(text, ",") {
		words := strings.Fields(field)
		list = append(list, sysvars.VirtualColumn{Name: words[0], Type: types[words[1]]})
	}
	return list
}

var tables = []table{
	{"jobs", columns(`id text, kind text, phase text, percent number, from_shard text, to_shard text, genes text, gene_count int,
		genes_at_target int, genes_wanted int, step_genes int, every_seconds number, on_breach text, throttle int, created time, created_by text,
		why text, trouble text, remedy text, runner text, reported time, doing text, rows_copied int, rows_estimate int, bytes_copied int,
		copied_percent number, verified_percent number, rows_verified int, verified time, changes int, lag_ms int, back_lag_ms int,
		conflicts int, rows_deleted int, next_step time, last_fence_ms int,
		statements int, statements_failed int, p99_ms number, before_statements int, before_failed int, before_p99_ms number,
		by_sequence int, mirror_percent int`), (*Schema).jobRows},
	{"job_steps", columns("job text, step int, at time, by_whom text, what text"), (*Schema).stepRows},
	{"events", columns("id text, at time, kind text, subject text, what text, by_whom text, took_ms number, failed int"), (*Schema).eventRows},
	{"mirrors", columns(`job text, proxy text, percent int, away text, away_since time, sampled int, compared int, dropped int, too_long int,
		unsent int, late int, failed int, lagged int, looking int, differences int, unsettled int, reordered int,
		source_p50_ms number, source_p99_ms number, target_p50_ms number, target_p99_ms number`), (*Schema).mirrorRows},
	{"mirror_differences", columns(`job text, proxy text, digest text, statement text, database_name text, gene text, times int,
		source_rows int, target_rows int, source_hash text, target_hash text, target_error int, last time`), (*Schema).mirrorDifferenceRows},
	{"job_differences", columns("job text, number int, table_name text, row_key text, differs text, owner text, newer text, why_left text"), (*Schema).differenceRows},
	{"shards", columns("name text, address text, account text, tls text, genes int, moving_in int, moving_out int, replicas text"), (*Schema).shardRows},
	{"servers", columns("proxy text, shard text, address text, role text, state text, since time, why text, probe_ms number, behind_ms number, errant text"), (*Schema).serverRows},
	{"findings", columns(`id text, severity text, check_name text, place text, what text, remedy text, cause text, expected text, acknowledged_by text,
		acknowledged time, acknowledged_why text, acknowledged_until time`), (*Schema).findingRows},
	{"routes", columns("first_gene text, last_gene text, genes int, shard text, map_version int, moving text, target text, target_percent int"), (*Schema).routeRows},
	{"proxies", columns("id text, address text, map_version int, behind int, version text, pid int, started time"), (*Schema).proxyRows},
	{"sessions", columns("proxy text, id int, user_name text, client text, database_name text, command text, state text, seconds int, statement text"), (*Schema).sessionRows},
	{"tables", columns("schema_name text, table_name text, kind text, owner text, id_column text, id_layout text, order_number text, version_column text, shard text"), (*Schema).tableRows},
	{"slow_statements", columns(`proxy text, digest text, statement text, database_name text, count int, failed int, row_count int, total_ms number,
		slowest_ms number, waited_ms number, held_ms number, slowest_user text, slowest_route text, slowest_shards text, last time`), (*Schema).slowRows},
	{"statements", columns(`digest text, statement text, database_name text, kind text, count int, errors int, last_error int, row_count int,
		on_several_shards int, gathered int, rows_gathered int, rows_by_key int, total_ms number, average_ms number, p50_ms number, p99_ms number, slowest_ms number, waited_ms number, held_ms number,
		per_second number, under_way number, first_seen time, last_seen time`), (*Schema).statementRows},
}

// Tables implements sysvars.Virtual.
func (s *Schema) Tables() []sysvars.VirtualTable {
	list := make([]sysvars.VirtualTable, len(tables))
	for i, t := range tables {
		list[i] = sysvars.VirtualTable{Name: t.name, Columns: t.columns}
	}
	return list
}

// patience bounds a read of etcd, because a client waits for it.
const patience = 5 * time.Second

// Rows implements sysvars.Virtual.
func (s *Schema) Rows(ctx context.Context, name string) ([][]any, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, t := range tables {
		if t.name == name {
			return t.rows(s, ctx)
		}
	}
	return nil, fmt.Errorf("no such table: %s", name)
}

func (s *Schema) jobRows(ctx context.Context) ([][]any, error) {
	list, err := s.jobs.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	reports, err := s.jobs.Reports(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(list))
	for i, j := range list {
		rows[i] = jobRow(j, reports[j.ID])
	}
	return rows, nil
}

func jobRow(j *job.Job, r job.Report) []any {
	p := job.See(j, job.Report{}, r, r.At)
	st := j.State
	return []any{
		j.ID, string(j.Kind), string(st.Shown()), st.Percent(), string(j.From), j.Target(), short(j.Genes.String()), int64(j.Genes.Len()),
		int64(j.GenesAt(st.Cut)), int64(j.GenesAt(wanted(st))), int64(j.GenesAt(st.Step)), j.Every.Seconds(), string(j.OnBreach), int64(j.Throttle), j.Created, j.By,
		text(j.Why), text(first(st.Why, r.Trouble)), text(st.Remedy), text(r.Runner), r.At, text(r.Doing), r.RowsCopied, r.RowsEstimate, r.BytesCopied,
		p.Copied, p.Verified, r.RowsVerified, r.Verified, r.Changes, r.LagMs, r.BackLagMs,
		r.Conflicts, r.RowsDeleted, r.NextStep, r.LastFenceMs,
		int64(r.After.Statements), int64(r.After.Failed), r.After.P99Ms, int64(r.Before.Statements), int64(r.Before.Failed), r.Before.P99Ms,
		bit(j.BySequence), int64(j.Mirror),
	}
}

// wanted returns the state at which a cut-over stops, or the current state.
func wanted(s phase.State) int {
	if at := s.At(); at == phase.Cutting || at == phase.RollingBack {
		return s.Wanted
	}
	return s.Cut
}

func bit(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

func (s *Schema) stepRows(ctx context.Context) ([][]any, error) {
	list, err := s.jobs.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, j := range list {
		for i, e := range j.Journal {
			rows = append(rows, []any{j.ID, int64(i + 1), e.At, e.By, short(e.What)})
		}
	}
	slices.SortStableFunc(rows, func(a, b []any) int { return a[2].(time.Time).Compare(b[2].(time.Time)) })
	return rows, nil
}

// differenceRows omits the rows' values, because any client may read this table.
func (s *Schema) differenceRows(ctx context.Context) ([][]any, error) {
	list, err := s.jobs.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, j := range list {
		if j.State.Differing == 0 {
			continue
		}
		l, err := s.jobs.Differences(ctx, j.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range l.Rows {
			newer, _ := d.Newer()
			rows = append(rows, []any{
				j.ID, int64(d.Number), d.Table, d.KeyText, text(strings.Join(d.Columns, ", ")), string(d.Owner), text(string(newer)), text(d.Left),
			})
		}
	}
	return rows, nil
}

func (s *Schema) shardRows(ctx context.Context) ([][]any, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	in, out := map[router.ShardName]int64{}, map[router.ShardName]int64{}
	for _, m := range c.Routes.Moves() {
		in[m.To] += int64(m.Genes.Len())
		out[m.From] += int64(m.Genes.Len())
	}
	var rows [][]any
	for _, name := range c.ShardNames() {
		shard := c.Shards[name]
		var replicas []string
		for _, r := range shard.Replicas {
			replicas = append(replicas, r.Address)
		}
		rows = append(rows, []any{
			string(name), shard.Address, shard.User, string(shard.TLS), int64(c.Routes.GenesOf(name).Len()), in[name], out[name],
			text(strings.Join(replicas, ", ")),
		})
	}
	return rows, nil
}

func (s *Schema) routeRows(ctx context.Context) ([][]any, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	width := c.Routes.Width()
	for _, e := range c.Routes.Stretches() {
		var moving []string
		span := gene.NewSet(e.Range)
		for _, m := range c.Routes.Moves() {
			if !m.Genes.Intersect(span).Empty() {
				moving = append(moving, m.ID())
			}
		}
		rows = append(rows, []any{
			e.First.Format(width), e.Last.Format(width), int64(span.Len()), string(e.Shard), c.Routes.Version(), text(strings.Join(moving, ", ")),
			text(string(e.Target)), int64(e.Share),
		})
	}
	return rows, nil
}

func (s *Schema) proxyRows(ctx context.Context) ([][]any, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	cards, err := fleet.Cards(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	rows := make([][]any, len(cards))
	for i, card := range cards {
		rows[i] = []any{
			card.ID, card.Addr, card.MapVersion, max(0, c.Routes.Version()-card.MapVersion), card.Version, int64(card.PID), card.Started,
		}
	}
	return rows, nil
}

// sessionRows asks the proxies. A proxy that does not answer has no rows.
func (s *Schema) sessionRows(ctx context.Context) ([][]any, error) {
	list, err := fleet.SessionsOf(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	slices.Reverse(list.Sessions) // the last rows are shown if there are too many
	rows := make([][]any, len(list.Sessions))
	for i, one := range list.Sessions {
		rows[i] = []any{
			one.Proxy, int64(one.ID), one.User, one.Client, text(one.Database), one.Command, text(one.State), int64(one.Seconds), text(one.Statement),
		}
	}
	return rows, nil
}

func (s *Schema) tableRows(ctx context.Context) ([][]any, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	names := slices.SortedFunc(maps.Keys(c.Tables), catalog.TableName.Compare)
	for _, name := range names {
		d := c.Tables[name]
		rows = append(rows, declarationRow(name, d))
	}
	return rows, nil
}

// slowPatience bounds the wait for the proxies' slow statements, and for the state of their servers.
const slowPatience = 2 * time.Second

// serverRows asks the proxies, because each has its own connections to the servers. A proxy that does not
// answer has no rows.
func (s *Schema) serverRows(ctx context.Context) ([][]any, error) {
	answers, err := fleet.Ask[[]health.Status](ctx, s.kv, fleet.Servers, slowPatience)
	if err != nil {
		return nil, err
	}
	records, err := failover.Records(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, proxy := range slices.Sorted(maps.Keys(answers.By)) {
		for _, server := range answers.By[proxy] {
			var behind any
			if server.BehindMs != nil {
				behind = *server.BehindMs
			}
			rows = append(rows, []any{
				proxy, string(server.Shard), server.Addr, server.Role(), server.State.String(), server.Since, text(server.Why), float64(server.Took.Microseconds()) / 1000,
				behind, text(records[server.Shard].Errant[server.Addr]),
			})
		}
	}
	return rows, nil
}

// slowRows asks the proxies. A proxy that does not answer has no rows.
func (s *Schema) slowRows(ctx context.Context) ([][]any, error) {
	answers, err := fleet.Ask[[]meter.SlowDigest](ctx, s.kv, fleet.Slow, slowPatience)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for _, proxy := range slices.Sorted(maps.Keys(answers.By)) {
		for _, d := range answers.By[proxy] {
			rows = append(rows, []any{
				proxy, d.Hash, d.Text, text(d.Database), int64(d.Count), int64(d.Failed), int64(d.Rows), d.AllMs,
				d.SlowestMs, d.WaitedMs, d.HeldMs, d.User, d.Route, text(d.Shards), d.Last,
			})
		}
	}
	return rows, nil
}

// mostStatements bounds the number of digests shown. One more row sums up the others.
const mostStatements = 999

// statementRows asks the proxies and adds up their answers. The last row contains all statements without a row
// of their own, so that sums over the table are complete.
func (s *Schema) statementRows(ctx context.Context) ([][]any, error) {
	cost, err := fleet.StatementsOf(ctx, s.kv, fleet.Statements)
	if err != nil {
		return nil, err
	}
	shown := cost.Digests[:min(mostStatements, len(cost.Digests))]
	for _, f := range cost.Digests[len(shown):] {
		cost.Others.Add(f)
	}
	rows := make([][]any, 0, len(shown)+1)
	for _, f := range shown {
		rows = append(rows, statementRow(f))
	}
	if cost.Others.Count > 0 {
		rows = append(rows, statementRow(cost.Others))
	}
	return rows, nil
}

func statementRow(f meter.Figures) []any {
	code := any(nil)
	if f.LastCode != 0 {
		code = int64(f.LastCode)
	}
	quantile := func(share float64) float64 { return min(f.SlowestMs, meter.Quantile(f.Times, share).Seconds()*1000) }
	return []any{
		text(f.Hash), f.Text, text(f.Database), text(f.Kind), int64(f.Count), int64(f.Failed), code, int64(f.Rows),
		int64(f.Several), int64(f.Gathered), int64(f.Copied), int64(f.Keyed), f.TotalMs, f.TotalMs / float64(max(1, f.Count)), quantile(0.5), quantile(0.99), f.SlowestMs, f.WaitedMs, f.HeldMs,
		f.PerSecond, f.Load, f.First, f.Last,
	}
}

// Empty implements sysvars.Virtual: it resets the statistics of statements on all proxies.
func (s *Schema) Empty(ctx context.Context, name string) error {
	if name != "statements" {
		return sysvars.ErrNotEmptied
	}
	return fleet.Forget(ctx, s.kv)
}

// short limits a text to the length of its column.
func short(s string) string {
	const most = 1000
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return s
}

// text returns NULL for an empty text.
func text(s string) any {
	if s == "" {
		return nil
	}
	return short(s)
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
