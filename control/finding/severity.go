package finding

import (
	"fmt"
	"slices"
)

// Severity ranks findings.
type Severity uint8

const (
	// None is the severity of a cluster without findings.
	None Severity = iota
	// Advice: everything works, and nothing will break without a change of the cluster. Something could be better.
	Advice
	// AtRisk: clients are served. One more failure, or time, leads to an outage, to lost data or to a job that can't end. What could not be
	// checked is at risk, too.
	AtRisk
	// Outage: statements of some clients fail, wait or miss rows now, or the cluster can't be controlled.
	Outage
)

// Severities lists the severities of findings, the lowest first.
var Severities = []Severity{Advice, AtRisk, Outage}

var names = [...]string{"none", "advice", "at-risk", "outage"}

// String returns the name in JSON, in metrics and on the command line.
func (s Severity) String() string { return names[s] }

// Words returns the name as people read it.
func (s Severity) Words() string {
	if s == AtRisk {
		return "at risk"
	}
	return s.String()
}

// MarshalText implements encoding.TextMarshaler.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A severity that only another version knows becomes AtRisk.
func (s *Severity) UnmarshalText(text []byte) error {
	*s = AtRisk
	if at := slices.Index(names[:], string(text)); at >= 0 {
		*s = Severity(at)
	}
	return nil
}

// Parse reads a severity of findings.
func Parse(text string) (Severity, error) {
	if at := slices.Index(names[1:], text); at >= 0 {
		return Severity(at + 1), nil
	}
	return None, fmt.Errorf("%q is no severity: use advice, at-risk or outage", text)
}
