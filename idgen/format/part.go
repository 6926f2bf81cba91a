package format

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/idgen/gene"
)

// Part is a piece of a template.
type Part struct {
	// Max is the length of its longest text, in bytes.
	Max int
	// Fixed reports whether it always has that length.
	Fixed bool
	// Stage is when it is generated, after parts of lower stages.
	Stage Stage
	// Unique reports that two strings of one template never have the same text here, unless their sequences have different
	// scopes.
	Unique bool
	// Scope is the time layout that its text shows, or the period at which its sequence restarts.
	Scope string
	// Zone is that time's offset, as written; empty for UTC.
	Zone string
	// Keys are the names of the context values for each of which the sequence is counted separately.
	Keys []string
	// Hidden is the version of the key that hides the sequence; 0 for none.
	Hidden uint32
	// OfOwner reports that it needs an owner; see Values.Width.
	OfOwner bool
	// Text generates the text.
	Text func(ctx context.Context, v *Values) (string, error)

	refers []int // the parts that it is calculated from, from 1
}

// Stage is a step in generating a string.
type Stage int

const (
	Given      Stage = iota // determined by the caller or the clock
	Sequenced               // the sequence
	Calculated              // computed from the sequence
)

// Values are the inputs of parts.
type Values struct {
	Now      time.Time
	Context  map[string]string
	Gene     gene.Gene
	Width    gene.Width // 0 if there is no gene
	Sequence uint64     // set from stage Calculated on, as the text shows it
	// Name is the generator's name. Each generator's sequences are hidden differently.
	Name string
	// Hider hides sequences. If it is nil, templates with hidden sequences fail.
	Hider Hider

	next  Sequence
	texts []string // the texts of all parts in order, for a part that refers to others
}

// Hider maps numbers of a given number of decimal digits to others, one to one for each tweak. See the key ring of package
// cipher.
type Hider interface {
	HideDigits(version uint32, digits int, tweak string, n uint64) (uint64, error)
	RevealDigits(version uint32, digits int, tweak string, n uint64) (uint64, error)
}

// Maker makes a part from the argument after its name.
type Maker func(argument string) (Part, error)

// Registry maps names to parts. It is a value; With returns another one.
type Registry struct{ makers map[string]Maker }

// Parts returns the registry of built-in parts: time, context, seq, gene, check and calc.
func Parts() Registry {
	return Registry{map[string]Maker{"time": timePart, "context": contextPart, "seq": seqPart, "gene": genePart, "check": checkPart, "calc": calcPart}}
}

// With returns a registry with one more part, or with a replaced one.
func (r Registry) With(name string, m Maker) Registry {
	makers := maps.Clone(r.makers)
	makers[name] = m
	return Registry{makers}
}

func (r Registry) part(name, argument string) (Part, error) {
	m, known := r.makers[name]
	if !known {
		return Part{}, fmt.Errorf("no part is named %q: there are %s", name, strings.Join(slices.Sorted(maps.Keys(r.makers)), ", "))
	}
	p, err := m(argument)
	if err != nil {
		return Part{}, fmt.Errorf("part %s: %w", name, err)
	}
	return p, nil
}
