package finding

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"time"

	"locus/router"
)

// Fact is one thing that is not as it should be.
type Fact struct {
	// ID is the same as long as the same is wrong at the same place. Measurements don't change it.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	Check    string   `json:"check"`
	Where    string   `json:"where"`
	What     string   `json:"what"`
	Remedy   string   `json:"remedy"` // the command or statement
}

// Compare orders facts: the most severe first, then by check and place.
func (f Fact) Compare(o Fact) int {
	return cmp.Or(cmp.Compare(o.Severity, f.Severity), cmp.Compare(f.Check, o.Check), cmp.Compare(f.Where, o.Where), cmp.Compare(f.What, o.What),
		cmp.Compare(f.Remedy, o.Remedy))
}

// Finding is a fact with its consequences.
type Finding struct {
	Fact
	// Title is the finding in a few words; see [Finding.Headline].
	Title string `json:"title,omitempty"`
	// Shards are the shards that the finding concerns, and Server the address of the server.
	Shards []router.ShardName `json:"shards,omitempty"`
	Server string             `json:"server,omitempty"`
	// Symptom reports that a server that is down may be the cause. Then the finding is one of the consequences of that server's.
	Symptom bool `json:"symptom,omitempty"`
	// Expect says what the cluster does about it by itself, and by when. It is empty if the cluster does nothing.
	Expect       string           `json:"expect,omitempty"`
	Consequences []Fact           `json:"consequences,omitempty"`
	Acknowledged *Acknowledgement `json:"acknowledged,omitempty"`
}

// Measure is a text that is a measurement: it does not change the identity of a finding.
type Measure string

// New returns a finding. Its identity follows from check, where, format and the arguments. Numbers, times, durations and values of type Measure
// are measurements, which don't change the identity.
func New(severity Severity, check, where, remedy, format string, args ...any) Finding {
	h := sha256.New()
	for _, part := range append([]string{check, where, format}, identifying(args)...) {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	return Finding{Fact: Fact{
		ID: hex.EncodeToString(h.Sum(nil)[:5]), Severity: severity, Check: check, Where: where, What: fmt.Sprintf(format, args...), Remedy: remedy,
	}}
}

// identifying returns the arguments that are no measurements, as texts.
func identifying(args []any) (list []string) {
	for _, a := range args {
		switch v := a.(type) {
		case time.Time, time.Duration, Measure:
		case error, fmt.Stringer, string:
			list = append(list, fmt.Sprint(v))
		default:
			if k := reflect.ValueOf(a).Kind(); k < reflect.Int || k > reflect.Complex128 {
				list = append(list, fmt.Sprint(v))
			}
		}
	}
	return list
}

// Headline returns the finding in one line.
func (f Finding) Headline() string { return cmp.Or(f.Title, f.Where+": "+f.What) }

// Open reports whether the finding counts: no person has acknowledged it.
func (f Finding) Open() bool { return f.Acknowledged == nil }

// Sort puts findings in the order in which they are shown: open ones first, the most severe first, then by check and place. It removes
// duplicates.
func Sort(list []Finding) []Finding {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(truth(b.Open())-truth(a.Open()), a.Compare(b.Fact))
	})
	return slices.CompactFunc(list, func(a, b Finding) bool { return a.Fact == b.Fact })
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Summary counts the findings of a cluster. Those that are acknowledged are counted only there.
type Summary struct {
	// Severity is the highest of the open findings.
	Severity     Severity `json:"severity"`
	Outages      int      `json:"outages"`
	AtRisk       int      `json:"at_risk"`
	Advice       int      `json:"advice"`
	Acknowledged int      `json:"acknowledged"`
}

// Summarize counts findings.
func Summarize(list []Finding) (s Summary) {
	for _, f := range list {
		if !f.Open() {
			s.Acknowledged++
			continue
		}
		s.Severity = max(s.Severity, f.Severity)
		switch f.Severity {
		case Outage:
			s.Outages++
		case AtRisk:
			s.AtRisk++
		case Advice:
			s.Advice++
		case None:
		}
	}
	return s
}

// Healthy reports whether clients are served and nothing threatens that. Advice does not count.
func (s Summary) Healthy() bool { return s.Severity < AtRisk }

// String returns the counts as the page and the command line show them.
func (s Summary) String() string {
	text := "healthy"
	add := func(n int, one, more string) {
		switch {
		case n == 0:
			return
		case n == 1:
			more = one
		}
		if n > 0 {
			part := fmt.Sprintf("%d %s", n, more)
			if text == "healthy" && !s.Healthy() {
				text = part
			} else {
				text += ", " + part
			}
		}
	}
	add(s.Outages, "outage", "outages")
	add(s.AtRisk, "risk", "risks")
	add(s.Advice, "piece of advice", "pieces of advice")
	add(s.Acknowledged, "acknowledged finding", "acknowledged findings")
	return text
}
