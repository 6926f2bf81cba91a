package job

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/migrate/phase"
)

// DifferencesPrefix begins the keys of lists of rows that differ, in etcd: one for each job.
const DifferencesPrefix = "job_differences/"

// Side is one of a job's servers.
type Side string

// The sides.
const (
	AtSource Side = "source"
	AtTarget Side = "target"
)

// Other is the side that s is not.
func (s Side) Other() Side {
	if s == AtSource {
		return AtTarget
	}
	return AtSource
}

// Image is a row as one server had it. The zero value is no row.
type Image struct {
	Sum     string `json:"sum,omitempty"` // over all bytes of all values; empty: there was no row
	Version *int64 `json:"version,omitempty"`
	Short   string `json:"short,omitempty"` // for people
}

// There tells whether there was a row.
func (i Image) There() bool { return i.Sum != "" }

// Difference is a row of which two servers did not have the same.
type Difference struct {
	// Number names what was seen of the row, and no other sight of it or of another row of the job.
	Number  int      `json:"row"`
	Leg     string   `json:"leg"`
	Table   string   `json:"table"`
	Key     []byte   `json:"key"`      // encoded
	KeyText string   `json:"key_text"` // for people
	Columns []string `json:"columns,omitempty"`
	Owner   Side     `json:"owner"` // whose the row is: the other side's is made of it by a stream
	// Versioned: the table has a version column.
	Versioned bool   `json:"versioned,omitempty"`
	Source    Image  `json:"source"`
	Target    Image  `json:"target"`
	Left      string `json:"left,omitempty"` // why a repair left it
}

// Of is what one side had.
func (d Difference) Of(s Side) Image {
	if s == AtSource {
		return d.Source
	}
	return d.Target
}

// Newer is which side's row is newer by its version, or why that isn't known.
func (d Difference) Newer() (newer Side, why string) {
	s, t := d.Source.Version, d.Target.Version
	switch {
	case !d.Versioned:
		return "", "table " + d.Table + " has no version column"
	case !d.Source.There() || !d.Target.There():
		return "", "one side has no row, and no version tells whether it was deleted or never came"
	case s == nil || t == nil:
		return "", "a version is NULL"
	case *s > *t:
		return AtSource, ""
	case *t > *s:
		return AtTarget, ""
	}
	return "", fmt.Sprintf("both rows have version %d", *s)
}

// Take says which row stands after a repair.
type Take string

// What can be taken.
const (
	TakeSource Take = "source"
	TakeTarget Take = "target"
	TakeNewer  Take = "newer"
)

// Valid tells whether it can be taken.
func (t Take) Valid() bool { return t == TakeSource || t == TakeTarget || t == TakeNewer }

// Decide is whose row stands at the end, or why nothing is done.
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

// Deed is what a repair does to the side that loses.
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

// Differences is the list of a comparison's differing rows, as far as it goes.
type Differences struct {
	Rows []Difference `json:"rows"`
	// Beyond is about how many more there are than were looked at closely, and are listed.
	Beyond int64 `json:"beyond,omitempty"`
	Last   int   `json:"last"` // the highest number that a row of the job ever had
}

// Of a list.
const (
	mostListed      = 200
	mostListedBytes = 256 << 10
)

// Add lists a row under a number of its own. One that has no place any more is counted.
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

// Chosen are the rows of a selection, such as 3,7-9; an empty one is all.
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

// Repair is what an operator wants made of rows that differ.
type Repair struct {
	Take Take   `json:"take"`
	Rows []int  `json:"rows"` // their numbers
	By   string `json:"by"`
}

// Has tells whether a row is to be repaired.
func (r *Repair) Has(number int) bool { return slices.Contains(r.Rows, number) }

// MakeEqual has rows made equal. The error is of an order by which nothing would be done.
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
		return Order{}, fmt.Errorf("nothing can be repaired so: %s", strings.Join(append(reasons, "no rows are listed")[:max(1, len(reasons))], "; "))
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
