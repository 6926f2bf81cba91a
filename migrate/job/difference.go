package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/migrate/phase"
)

// DifferencesPrefix is the prefix of the etcd keys that hold the differing rows, one key per job.
const DifferencesPrefix = "job_differences/"

// Side is one of a job's servers.
type Side string

// The sides.
const (
	AtSource Side = "source"
	AtTarget Side = "target"
)

// Other returns the other side.
func (s Side) Other() Side {
	if s == AtSource {
		return AtTarget
	}
	return AtSource
}

// Image is a row as one server had it. The zero value means that there was no row.
type Image struct {
	Sum     string `json:"sum,omitempty"` // checksum over the bytes of all values; empty if there was no row
	Version *int64 `json:"version,omitempty"`
	Short   string `json:"short,omitempty"` // short form for display
}

// There reports whether there was a row.
func (i Image) There() bool { return i.Sum != "" }

// Difference is a row that differed between two servers.
type Difference struct {
	// Number identifies this state of the row within the job. If the row changes, it gets another number.
	Number  int      `json:"row"`
	Leg     string   `json:"leg"`
	Table   string   `json:"table"`
	Key     []byte   `json:"key"`      // encoded
	KeyText string   `json:"key_text"` // for display
	Columns []string `json:"columns,omitempty"`
	Owner   Side     `json:"owner"` // the side that owns the row; a stream copies it to the other side
	// Versioned: the table has a version column.
	Versioned bool   `json:"versioned,omitempty"`
	Source    Image  `json:"source"`
	Target    Image  `json:"target"`
	Left      string `json:"left,omitempty"` // why a repair skipped it
}

// Of returns the row as one side had it.
func (d Difference) Of(s Side) Image {
	if s == AtSource {
		return d.Source
	}
	return d.Target
}

// Newer returns the side with the newer version of the row, or the reason why the versions can't be compared.
func (d Difference) Newer() (newer Side, why string) {
	s, t := d.Source.Version, d.Target.Version
	switch {
	case !d.Versioned:
		return "", "table " + d.Table + " has no version column"
	case !d.Source.There() || !d.Target.There():
		return "", "one side has no row, and no version shows whether it was deleted or was never there"
	case s == nil || t == nil:
		return "", "a version is NULL"
	case *s > *t:
		return AtSource, ""
	case *t > *s:
		return AtTarget, ""
	}
	return "", fmt.Sprintf("both rows have version %d", *s)
}

// Take selects the row that wins a repair.
type Take string

// The valid selections.
const (
	TakeSource Take = "source"
	TakeTarget Take = "target"
	TakeNewer  Take = "newer"
)

// Valid reports whether t is a valid selection.
func (t Take) Valid() bool { return t == TakeSource || t == TakeTarget || t == TakeNewer }

// Decide returns the side whose row wins, or the reason why the repair skips the row.
func (d Difference) Decide(t Take) (winner Side, why string) {
	switch t {
	case TakeSource:
		return AtSource, ""
	case TakeTarget:
		return AtTarget, ""
	case TakeNewer:
		if winner, why = d.Newer(); why != "" {
			why += ": take source or target"
		}
		return winner, why
	}
	return "", fmt.Sprintf("%q: take source, target or newer", string(t))
}

// Deed describes what a repair does on the side that loses.
func (d Difference) Deed(winner Side) string {
	loser := winner.Other()
	switch {
	case !d.Of(winner).There():
		return "delete at the " + string(loser)
	case !d.Of(loser).There():
		return "insert at the " + string(loser)
	}
	return "replace at the " + string(loser)
}

// Differences is the list of rows that differed in a comparison. The list is bounded.
type Differences struct {
	Rows []Difference `json:"rows"`
	// Beyond is the approximate number of further differing rows, which are not listed.
	Beyond int64 `json:"beyond,omitempty"`
	Last   int   `json:"last"` // the highest number that any row of the job has had
}

// Limits of a list.
const (
	mostListed      = 200
	mostListedBytes = 256 << 10
)

// Add lists a row under a new number. If the list is full, it only counts the row.
func (l *Differences) Add(d Difference) {
	bytes := d.size()
	for _, other := range l.Rows {
		bytes += other.size()
	}
	if len(l.Rows) >= mostListed || len(l.Rows) > 0 && bytes > mostListedBytes {
		l.Beyond++
		return
	}
	l.Last++
	d.Number = l.Last
	l.Rows = append(l.Rows, d)
}

func (d Difference) size() int {
	n := 2*len(d.Key) + 2*len(d.KeyText) + len(d.Source.Short) + len(d.Target.Short) + 400
	for _, c := range d.Columns {
		n += len(c)
	}
	return n
}

// Chosen returns the rows of a selection, such as 3,7-9. An empty selection means all rows.
func (l Differences) Chosen(selection string) ([]Difference, error) {
	if strings.TrimSpace(selection) == "" {
		return l.Rows, nil
	}
	var some []Difference
	for part := range strings.SplitSeq(selection, ",") {
		first, last, err := span(part)
		if err != nil {
			return nil, err
		}
		before := len(some)
		for _, d := range l.Rows {
			if d.Number >= first && d.Number <= last && !slices.ContainsFunc(some, func(o Difference) bool { return o.Number == d.Number }) {
				some = append(some, d)
			}
		}
		if len(some) == before {
			return nil, fmt.Errorf("row %s is not listed, or not any more: a difference that is found again has a new number", strings.TrimSpace(part))
		}
	}
	return some, nil
}

func span(part string) (first, last int, err error) {
	a, b, several := strings.Cut(strings.TrimSpace(part), "-")
	if !several {
		b = a
	}
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	if errors.Join(err1, err2) != nil || first > last {
		return 0, 0, fmt.Errorf("rows %q: write them like 3,7-9", part)
	}
	return first, last, nil
}

// Repair is an operator's request to make differing rows equal.
type Repair struct {
	Take Take   `json:"take"`
	Rows []int  `json:"rows"` // the numbers of the rows
	By   string `json:"by"`
}

// Has reports whether the repair includes the row with a number.
func (r *Repair) Has(number int) bool { return slices.Contains(r.Rows, number) }

// MakeEqual returns the request to make rows equal. It returns an error if the request would change nothing.
func MakeEqual(take Take, rows []Difference, by string) (Order, error) {
	if !take.Valid() {
		_, why := Difference{}.Decide(take)
		return Order{}, errors.New(why)
	}
	r := &Repair{Take: take, By: by}
	var reasons []string
	for _, d := range rows {
		_, why := d.Decide(take)
		if why == "" {
			r.Rows = append(r.Rows, d.Number)
		} else if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	if len(r.Rows) == 0 {
		return Order{}, fmt.Errorf("nothing can be repaired this way: %s", strings.Join(append(reasons, "no rows are listed")[:max(1, len(reasons))], "; "))
	}
	return Order{
		Name:   fmt.Sprintf("repair: take %s for %s", take, rowsOf(len(r.Rows))),
		Event:  func(*Job) phase.Event { return phase.Event{Kind: phase.ToRepair} },
		Change: func(j *Job) { j.Repair = r },
	}, nil
}

func rowsOf(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
