package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"locus/router/catalog"
	"locus/router/plan"
)

// Report describes how the statements of a workload would run under a proposal.
type Report struct {
	Sources    []string `json:"sources"`
	Notes      []string `json:"notes,omitempty"`
	Statements uint64   `json:"statements"`
	Seconds    float64  `json:"seconds"`
	// OneShard are the statements that need one shard at most: by their owner, on any shard, or answered by the proxy.
	OneShard Share     `json:"one_shard"`
	Proposal *Proposal `json:"proposal"`
	// Staying are the tables that are not declared. They stay on one shard.
	Staying []string `json:"staying,omitempty"`
	// StayingRows is their share of all rows by the server's estimate, in percent.
	StayingRows float64  `json:"staying_rows_percent"`
	Ways        []Figure `json:"ways"`
	// Reasons are why statements are refused or can't be read, the costliest first.
	Reasons []Reason       `json:"reasons,omitempty"`
	Digests []DigestReport `json:"digests"`
	Steps   []Step         `json:"steps"`
}

// Share is a part of the statements and of their time, in percent.
type Share struct {
	Count float64 `json:"count_percent"`
	Time  float64 `json:"time_percent"`
}

// Figure is how many statements run in one way.
type Figure struct {
	Way     plan.Way `json:"way"`
	Count   uint64   `json:"count"`
	Seconds float64  `json:"seconds"`
	Share
}

// Reason is a refusal, with the statements that it concerns.
type Reason struct {
	Code    string   `json:"code,omitempty"`
	Way     plan.Way `json:"way"`
	Why     string   `json:"why"`
	Example string   `json:"example"`
	Digests int      `json:"digests"`
	Count   uint64   `json:"count"`
	Share
}

// DigestReport contains the result for the statements of a digest.
type DigestReport struct {
	Statement string  `json:"statement"`
	Database  string  `json:"database,omitempty"`
	Count     uint64  `json:"count"`
	Seconds   float64 `json:"seconds"`
	// Ways are the ways of its executions, in percent of its executions.
	Ways map[plan.Way]float64 `json:"ways"`
	Why  string               `json:"why,omitempty"`
	// Owners are the columns that it would have to name to run on one shard.
	Owners []string `json:"owners,omitempty"`
	// PerDay is the number of executions in a day, if the time is known in which they were counted.
	PerDay float64 `json:"per_day,omitempty"`
	Share
}

// worst returns the most expensive way of the digest.
func (d *DigestReport) worst() plan.Way {
	worst := plan.OnProxy
	for way := range d.Ways {
		if slices.Index(order, way) > slices.Index(order, worst) {
			worst = way
		}
	}
	return worst
}

// order is the order of the ways, the cheapest first.
var order = []plan.Way{
	plan.OnProxy, plan.OnOwner, plan.OnAny, plan.OnSingle, plan.OnSome, plan.OnAll, plan.OnEvery, plan.ByKeys, plan.ByGathering, Refused, Unread,
}

// Evaluate plans every digest of a workload under a proposal.
func Evaluate(s *Schema, w *Workload, p *Proposal, o Options) (*Report, error) {
	planner, err := newPlanner(s, p.Shards, o)
	if err != nil {
		return nil, err
	}
	dropped, err := planner.declare(p)
	if err != nil {
		return nil, err
	}
	r := &reporting{
		Report:  &Report{Sources: w.Sources, Notes: slices.Concat(s.Notes, w.Notes), Proposal: p, Digests: []DigestReport{}},
		planner: planner, figures: map[plan.Way]*Figure{}, reasons: map[string]*Reason{}, counts: map[plan.Way]float64{}, over: w.Over,
	}
	if w.Others > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d statements of rare digests were not planned, because there are more than %d digests", w.Others, mostDigests))
	}
	digests := w.Digests()
	for _, d := range digests {
		r.Statements += d.Count
		r.Seconds += d.Seconds
	}
	for _, d := range digests {
		r.digest(d)
	}
	if r.unseen > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s statements name tables that the account doesn't see, such as %s: GRANT SELECT on them, or they count as tables on one shard",
			grouped(uint64(r.unseen+0.5)), r.unseenTable))
	}
	r.finish()
	for i := range s.Tables {
		if p.of(s.Tables[i].TableName) == nil {
			r.Staying = append(r.Staying, s.Tables[i].TableName.String())
			r.StayingRows += 100 * float64(s.Tables[i].Rows) / float64(max(s.rows, 1))
		}
	}
	r.StayingRows = thousandths(r.StayingRows)
	if o.Cluster != nil {
		r.Steps = o.Cluster.steps(p)
	} else {
		r.Steps = steps(s, p, planner.catalog, dropped, r.Report)
	}
	return r.Report, nil
}

// reporting collects a report.
type reporting struct {
	*Report
	planner *planner
	figures map[plan.Way]*Figure
	counts  map[plan.Way]float64 // executions, of which a digest's may be fractions
	reasons map[string]*Reason
	// unseen is the number of executions that name tables which the schema does not contain, such as unseenTable.
	unseen      float64
	unseenTable string
	over        time.Duration // the period in which the workload was counted, or 0
}

func (r *reporting) share(count, seconds float64) Share {
	var s Share
	if r.Statements > 0 {
		s.Count = 100 * count / float64(r.Statements)
	}
	if r.Seconds > 0 {
		s.Time = 100 * seconds / r.Seconds
	}
	return s
}

// rounded returns a share with three decimals, of which reports show one.
func (s Share) rounded() Share { return Share{thousandths(s.Count), thousandths(s.Time)} }

func thousandths(n float64) float64 { return math.Round(n*1000) / 1000 }

// digest plans the known executions of a digest, which represent all of them.
func (r *reporting) digest(d *Digest) {
	out := DigestReport{
		Statement: d.Text, Database: d.Database, Count: d.Count, Seconds: d.Seconds, Ways: map[plan.Way]float64{},
		Share: r.share(float64(d.Count), d.Seconds),
	}
	samples := d.samples
	if len(samples) == 0 {
		samples = []string{d.Text} // the text was too long to be stored, and its digest can't be parsed either
	}
	part := 1 / float64(len(samples))
	counted := map[string]bool{}
	for _, text := range samples {
		f := r.planner.fateOf(d, text)
		for way, share := range d.waysOf(f.way) {
			out.Ways[way] += 100 * part * share
			r.add(way, part*share*float64(d.Count), part*share*d.Seconds)
		}
		if f.unseen != "" {
			r.unseen += part * float64(d.Count)
			r.unseenTable = f.unseen
		}
		if f.owners != nil {
			out.Owners = f.owners
		}
		if f.why == "" {
			continue
		}
		out.Why = f.why
		r.reason(d, f, text, part, counted)
	}
	if r.over > 0 {
		out.PerDay = math.Round(float64(d.Count) / r.over.Hours() * 24)
	}
	r.Digests = append(r.Digests, out)
}

// waysOf returns the ways of a digest's executions that are planned without values. Lists may name several owners: then proxies have counted
// how many executions ran on several shards.
func (d *Digest) waysOf(planned plan.Way) map[plan.Way]float64 {
	if planned != plan.OnOwner || d.several == 0 || d.Count == 0 {
		return map[plan.Way]float64{planned: 1}
	}
	several := float64(d.several) / float64(d.Count)
	return map[plan.Way]float64{plan.OnSome: several, plan.OnOwner: 1 - several}
}

func (r *reporting) add(way plan.Way, count, seconds float64) {
	if r.figures[way] == nil {
		r.figures[way] = &Figure{Way: way}
	}
	r.counts[way] += count
	r.figures[way].Seconds += seconds
}

// reason adds a refusal. Texts that differ in values or positions only are one reason.
func (r *reporting) reason(d *Digest, f fate, text string, part float64, counted map[string]bool) {
	key := string(f.way) + f.code.String() + f.why
	if f.way == Unread {
		key = string(f.way)
	}
	reason := r.reasons[key]
	if reason == nil {
		reason = &Reason{Way: f.way, Why: f.why, Example: d.Text}
		if f.code != 0 {
			reason.Code = f.code.String()
		}
		r.reasons[key] = reason
	}
	if !counted[key] {
		counted[key] = true
		reason.Digests++
	}
	share := r.share(part*float64(d.Count), part*d.Seconds)
	reason.Share.Count += share.Count
	reason.Share.Time += share.Time
}

// finish sorts everything, the costliest first.
func (r *reporting) finish() {
	for way, f := range r.figures {
		f.Count, f.Share = uint64(r.counts[way]+0.5), r.share(r.counts[way], f.Seconds)
		r.Ways = append(r.Ways, *f)
		switch way {
		case plan.OnProxy, plan.OnOwner, plan.OnAny:
			r.OneShard.Count += f.Share.Count
			r.OneShard.Time += f.Share.Time
		}
	}
	slices.SortFunc(r.Ways, func(a, b Figure) int { return slices.Index(order, a.Way) - slices.Index(order, b.Way) })
	for _, key := range slices.Sorted(maps.Keys(r.reasons)) {
		reason := r.reasons[key]
		reason.Count = uint64(reason.Share.Count*float64(r.Statements)/100 + 0.5)
		r.Reasons = append(r.Reasons, *reason)
	}
	r.round()
	slices.SortStableFunc(r.Reasons, func(a, b Reason) int { return cmp.Compare(b.weight(), a.weight()) })
	slices.SortStableFunc(r.Digests, func(a, b DigestReport) int { return cmp.Compare(b.weight(), a.weight()) })
}

// round rounds all numbers that are fractions.
func (r *reporting) round() {
	r.OneShard, r.Seconds = r.OneShard.rounded(), thousandths(r.Seconds)
	for i := range r.Ways {
		f := &r.Ways[i]
		f.Share, f.Seconds = f.Share.rounded(), thousandths(f.Seconds)
	}
	for i := range r.Reasons {
		r.Reasons[i].Share = r.Reasons[i].Share.rounded()
	}
	for i := range r.Digests {
		d := &r.Digests[i]
		d.Share, d.Seconds = d.Share.rounded(), thousandths(d.Seconds)
		for way, percent := range d.Ways {
			d.Ways[way] = thousandths(percent)
		}
	}
}

// weight is the order in reports.
func (s Share) weight() float64 { return s.Count + s.Time }

// Step is one step to the proposal, with its statements or commands.
type Step struct {
	What     string   `json:"what"`
	Commands []string `json:"commands,omitempty"`
}

// steps returns the way from the server to a sharded cluster.
func steps(s *Schema, p *Proposal, c *catalog.Catalog, dropped []dropping, r *Report) (list []Step) {
	add := func(what string, commands []string) {
		if len(commands) > 0 {
			list = append(list, Step{what, commands})
		}
	}
	var collations, loose, keys, comments []string
	for _, name := range p.sorted() {
		t, live := p.of(name), s.byName[name]
		table, err := c.Find(name)
		if err != nil || table == nil {
			continue
		}
		comments = append(comments, fmt.Sprintf("ALTER TABLE %s COMMENT 'locus: %s';", name.SQL(), t.Declare))
		if table.Kind != catalog.Sharded {
			continue
		}
		owner := table.Root().Column
		if c := column(live, owner.Name); c != nil && caseless(c) {
			collations = append(collations, fmt.Sprintf("ALTER TABLE %s MODIFY %s %s CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL;", name.SQL(), quoted(c.Name), c.SQLType()))
		}
		for _, u := range table.Unseen {
			if !table.NumbersAlone(u) {
				loose = append(loose, table.WithOwner(u)+";")
			}
		}
	}
	for _, d := range dropped {
		keys = append(keys, fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s; -- %s", d.key.TableName.SQL(), quoted(d.key.Name), d.why))
	}
	add("Drop foreign keys that no shard could check by itself. The application must check them.", keys)
	add("On the present server, add the owner to tables that lack it, and fill it. Add the column to the INSERTs of the application.", columnSteps(p, c))
	add("Make owners case-sensitive: equal owners must be equal bytes.", collations)
	add("Add the owner to unique keys. Each shard checks a unique key for its own rows only. Programs must not rely on the old key any more.", loose)
	if len(r.Reasons) > 0 {
		list = append(list, Step{What: fmt.Sprintf("Change the statements that are refused (%.1f %% of all), or decide that their tables stay on one shard.", refused(r))})
	}
	add("Either create the tables empty, through a proxy, and declare them in their comments.", comments)
	add("Or import the tables with their rows, while the application goes on: as one job, so that all are sharded at one moment.", importCommands(p))
	add("Bring the other tables to the default shard by a dump through a proxy, and make global what is proposed to be global.", globalCommands(p))
	return list
}

func refused(r *Report) (percent float64) {
	for _, reason := range r.Reasons {
		if reason.Way == Refused {
			percent += reason.Share.Count
		}
	}
	return percent
}

// statements returns how a new column is made and filled.
func (a *Added) statements(name catalog.TableName, c *catalog.Column) []string {
	table, from := name.SQL(), a.From
	if parent, err := catalog.ParseTableName(a.From); err == nil {
		from = parent.SQL()
	}
	return []string{
		fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s, ADD KEY (%[2]s);", table, quoted(a.Column), spelled(c)),
		fmt.Sprintf("UPDATE %s c JOIN %s p ON p.%s = c.%s SET c.%s = p.%s;", table, from, quoted(a.Key), quoted(a.By), quoted(a.Column), quoted(a.Value)),
		fmt.Sprintf("ALTER TABLE %s MODIFY %s %s NOT NULL;", table, quoted(a.Column), spelled(c)),
	}
}

// columnSteps returns how all new columns are made and filled. A table whose new column is copied to others comes before these.
func columnSteps(p *Proposal, c *catalog.Catalog) (statements []string) {
	made := map[catalog.TableName]bool{}
	var add func(name catalog.TableName)
	add = func(name catalog.TableName) {
		t, table := p.of(name), (*catalog.Table)(nil)
		if t != nil && t.Add != nil && !made[name] {
			table, _ = c.Find(name)
		}
		if table == nil || table.Kind != catalog.Sharded {
			return
		}
		made[name] = true
		if from, err := catalog.ParseTableName(t.Add.From); err == nil {
			add(from)
		}
		at, _ := table.Column(t.Add.Column)
		statements = append(statements, t.Add.statements(name, &table.Columns[at])...)
	}
	for _, name := range p.sorted() {
		add(name)
	}
	return statements
}

// importCommands returns the commands that import the tables from the present server.
func importCommands(p *Proposal) (commands []string) {
	var sharded []string
	for _, name := range p.sorted() {
		if words := p.of(name).Declare; words != string(catalog.Global) {
			sharded = append(sharded, name.String()+" "+words)
		}
	}
	if len(sharded) == 0 {
		return nil
	}
	for i := range sharded[1:] {
		sharded[i+1] = shellWord(sharded[i+1])
	}
	name, words, _ := strings.Cut(sharded[0], " owner=")
	sharded[0] = shellWord(name) + " owner=" + words
	return []string{"locus import " + strings.Join(sharded, " --also ") + " --from USER@HOST:PORT --secret NAME --dry-run"}
}

// globalCommands returns the commands that make tables global that are on the default shard.
func globalCommands(p *Proposal) (commands []string) {
	for _, name := range p.sorted() {
		if p.of(name).Declare == string(catalog.Global) {
			commands = append(commands, fmt.Sprintf("locus import %s global --dry-run", shellWord(name.String())))
		}
	}
	return commands
}

func quoted(name string) string { return catalog.Backquote(name) }
