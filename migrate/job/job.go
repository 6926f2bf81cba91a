package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"locus/idgen/gene"
	"locus/migrate/phase"
	"locus/router"
)

// Prefixes of keys in etcd, relative to the cluster's prefix. Each job has one record, one report and one
// claim.
const (
	Prefix       = "jobs/"
	ReportPrefix = "job_reports/"
	ClaimPrefix  = "job_claims/"
)

// Kind is the command that created the job. A move works the same for all of them.
type Kind string

// The kinds.
const (
	Split     Kind = "split"
	Merge     Kind = "merge"
	Rebalance Kind = "rebalance"
	// Importing shards tables that only the source has. The rows of each shard's genes go to that shard, for
	// all shards at once.
	Importing Kind = "import"
)

// Job is the record of one job. It is replaced as a whole, by compare-and-swap.
type Job struct {
	ID       string
	Kind     Kind
	From, To router.ShardName // an import has no To; its targets are in Import
	Width    gene.Width
	Genes    gene.Set
	Import   *Import // nil for other kinds
	// BySequence: the job hands over rows of all its genes by their residues, instead of one gene after the
	// other; see [NewBySequence].
	BySequence bool
	State      phase.State
	// Repair is the pending request to make differing rows equal, or nil.
	Repair *Repair
	// Every is the time between two steps of a cut-over. OnBreach is the reaction to a watched metric that
	// exceeds its limit.
	Every    time.Duration
	OnBreach Breach
	// Throttle is the share of the time for which copying, verifying and deleting sleep.
	Throttle int // percent, 0 to 95
	// Mirror is the share of the moving genes' reads, in percent, that proxies also send to the target while
	// the target has all rows; see [Mirror].
	Mirror int
	// Parts is the number of parts into which the applier divides its work. It never changes.
	Parts int
	// Handed holds the last steps, with the log positions at which rows changed hands.
	Handed  []Handed
	Created time.Time
	By, Why string
	Journal []Entry
}

// Breach is the reaction to a watched metric that exceeds its limit.
type Breach string

// The reactions.
const (
	PauseThen Breach = "pause"     // the default
	StepBack  Breach = "step-back" // goes back by one step and pauses
	BackToNil Breach = "roll-back" // goes back to 0%
)

// Entry is a line of the journal.
type Entry struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`
	What string    `json:"what"`
}

// mostEntries bounds the journal. The first firstEntries entries are kept.
const (
	mostEntries  = 400
	firstEntries = 20
)

// DefaultParts is the number of workers that apply a job's changes.
const DefaultParts = 4

// New returns the record of a new job.
func New(id string, kind Kind, from, to router.ShardName, w gene.Width, genes gene.Set, by, why string, now time.Time) (*Job, error) {
	state, err := phase.New(genes.Len())
	if err != nil {
		return nil, err
	}
	j := &Job{
		ID: id, Kind: kind, From: from, To: to, Width: w, Genes: genes, State: state, OnBreach: PauseThen,
		Parts: min(DefaultParts, genes.Len()), Created: created(now), By: by, Why: why,
	}
	j.note(now, by, fmt.Sprintf("%s of %s from %s to %s: %s", kind, counted(genes.Len()), from, to, genes))
	return j, j.Check()
}

func counted(genes int) string {
	if genes == 1 {
		return "1 gene"
	}
	return fmt.Sprintf("%d genes", genes)
}

// Check returns an error if the record is invalid.
func (j *Job) Check() error {
	var errs []error
	if j.ID == "" {
		errs = append(errs, errors.New("no id"))
	}
	errs = append(errs, j.checkImport(), j.checkSequence(), j.checkHanded(), j.From.Validate())
	for _, l := range j.Legs() {
		errs = append(errs, l.To.Validate())
		if l.To == j.From {
			errs = append(errs, fmt.Errorf("from %s to itself", j.From))
		}
	}
	if !j.Width.Valid() || j.Genes.Empty() || j.total() != j.State.Total {
		errs = append(errs, fmt.Errorf("%d genes of %d bits, and its state has %d", j.Genes.Len(), j.Width, j.State.Total))
	}
	if j.Throttle < 0 || j.Throttle > MostRest {
		errs = append(errs, fmt.Errorf("throttle %d %%: from 0 to %d", j.Throttle, MostRest))
	}
	if j.Mirror < 0 || j.Mirror > 100 {
		errs = append(errs, fmt.Errorf("mirrors %d %% of the reads: from 0 to 100", j.Mirror))
	}
	if j.Parts < 1 || j.Parts > j.Genes.Len() {
		errs = append(errs, fmt.Errorf("%d parts of %d genes", j.Parts, j.Genes.Len()))
	}
	if j.State.Repairing && j.Repair == nil {
		errs = append(errs, errors.New("repairing, without a choice of rows"))
	}
	errs = append(errs, j.State.Check())
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("job %s: %w", j.ID, err)
	}
	return nil
}

// On returns the record after an event, with a line in its journal.
func (j *Job) On(e phase.Event, by, what string, now time.Time) (*Job, error) {
	if err := j.whole(e); err != nil {
		return nil, err
	}
	state, err := j.State.On(e)
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", j.ID, err)
	}
	next := *j
	next.State = state
	if !state.Repairing {
		next.Repair = nil
	}
	next.Journal = append([]Entry(nil), j.Journal...)
	if what == "" {
		what = told(e.Kind)
	}
	if e.Why != "" {
		what += ": " + e.Why
	}
	if shown := state.Shown(); shown != j.State.Shown() {
		what += " → " + string(shown)
	}
	next.note(now, by, what)
	return &next, nil
}

// told returns the text of an event for the journal.
func told(k phase.Kind) string {
	if k == phase.Differs { // the rows may differ; the next comparison decides
		return "to be compared again"
	}
	return string(k)
}

// Noted returns the record with an additional line in its journal.
func (j *Job) Noted(by, what string, now time.Time) *Job {
	next := *j
	next.Journal = append([]Entry(nil), j.Journal...)
	next.note(now, by, what)
	return &next
}

func (j *Job) note(now time.Time, by, what string) {
	j.Journal = append(j.Journal, Entry{now.UTC().Round(time.Millisecond), by, what})
	if over := len(j.Journal) - mostEntries; over > 0 {
		j.Journal = append(j.Journal[:firstEntries], j.Journal[firstEntries+over:]...)
	}
}

// document is the JSON form of a record. Sets of genes are written as text.
type document struct {
	Schema   int              `json:"schema"`
	ID       string           `json:"id"`
	Kind     Kind             `json:"kind"`
	Phase    phase.Phase      `json:"phase"`   // for display; State is authoritative
	Percent  float64          `json:"percent"` // for display
	From     router.ShardName `json:"from"`
	To       router.ShardName `json:"to,omitempty"`
	Import   *Import          `json:"import,omitempty"`
	Sequence bool             `json:"by_sequence,omitempty"`
	Bits     gene.Width       `json:"gene_bits"`
	Genes    string           `json:"genes"`
	State    phase.State      `json:"state"`
	Repair   *Repair          `json:"repair,omitempty"`
	Every    string           `json:"every,omitempty"`
	OnBreach Breach           `json:"on_breach"`
	Throttle int              `json:"throttle"`
	Mirror   int              `json:"mirror,omitempty"`
	Parts    int              `json:"parts"`
	Handed   []Handed         `json:"handed,omitempty"`
	Created  time.Time        `json:"created"`
	By       string           `json:"by"`
	Why      string           `json:"why,omitempty"`
	Journal  []Entry          `json:"journal"`
}

// Schema is the newest version of the document that this build reads. Only jobs by sequence are written with
// it, so that older builds, which would run such a job by gene, refuse it.
const (
	Schema      = 2
	plainSchema = 1
)

func (j *Job) schema() int {
	if j.BySequence {
		return Schema
	}
	return plainSchema
}

// MarshalJSON writes the record for etcd and for the output of commands.
func (j *Job) MarshalJSON() ([]byte, error) {
	d := document{
		Schema: j.schema(), ID: j.ID, Kind: j.Kind, Phase: j.State.Shown(), Percent: round(j.State.Percent()), From: j.From, To: j.To,
		Bits: j.Width, Genes: j.Genes.String(), State: j.State, OnBreach: j.OnBreach, Throttle: j.Throttle, Mirror: j.Mirror, Parts: j.Parts,
		Created: j.Created, By: j.By, Why: j.Why, Journal: j.Journal, Import: j.Import, Sequence: j.BySequence, Repair: j.Repair,
		Handed: j.Handed,
	}
	if j.Every > 0 {
		d.Every = j.Every.String()
	}
	return json.Marshal(d)
}

// round rounds to two decimal places.
func round(percent float64) float64 {
	f, _ := strconv.ParseFloat(strconv.FormatFloat(percent, 'f', 2, 64), 64)
	return f
}

// UnmarshalJSON reads the output of MarshalJSON, and refuses an invalid record.
func (j *Job) UnmarshalJSON(text []byte) error {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("job: %w", err)
	}
	if d.Schema != plainSchema && d.Schema != Schema {
		return fmt.Errorf("job %s: schema %d, and this build reads %d: upgrade locus", d.ID, d.Schema, Schema)
	}
	if d.Sequence != (d.Schema == Schema) {
		return fmt.Errorf("job %s: schema %d, and by sequence: %v", d.ID, d.Schema, d.Sequence)
	}
	if !d.Bits.Valid() {
		return fmt.Errorf("job %s: genes of %d bits", d.ID, d.Bits)
	}
	genes, err := gene.ParseSet(d.Genes, d.Bits)
	if err != nil {
		return fmt.Errorf("job %s: genes: %w", d.ID, err)
	}
	*j = Job{
		ID: d.ID, Kind: d.Kind, From: d.From, To: d.To, Width: d.Bits, Genes: genes, State: d.State, OnBreach: d.OnBreach,
		Throttle: d.Throttle, Mirror: d.Mirror, Parts: d.Parts, Created: d.Created, By: d.By, Why: d.Why, Journal: d.Journal, Import: d.Import,
		BySequence: d.Sequence, Repair: d.Repair, Handed: d.Handed,
	}
	if d.Every != "" {
		if j.Every, err = time.ParseDuration(d.Every); err != nil {
			return fmt.Errorf("job %s: every: %w", d.ID, err)
		}
	}
	return j.Check()
}
