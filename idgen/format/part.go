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
	// Max is its longest text, in bytes.
	Max int
	// Fixed: it always has that length.
	Fixed bool
	// Stage says when it is made: lower ones are there before it.
	Stage Stage
	// Unique: two strings of one template never have the same text here, unless
	// their sequences are of different scopes.
	Unique bool
	// Scope is the layout of time that its text tells apart, or with each of
	// which a sequence begins anew.
	Scope string
	// Zone is the offset of that time, as it is written; empty for UTC.
	Zone string
	// Hidden is the version of the key that hides the sequence; 0: nothing does.
	Hidden uint32
	// Text makes it.
	Text func(ctx context.Context, v *Values) (string, error)
}

// Stage is a step of making a string.
type Stage int

const (
	Given      Stage = iota // what the caller or the clock says
	Sequenced               // the sequence
	Calculated              // what is calculated from it
)

// Values are what parts are made from.
type Values struct {
	Now      time.Time
	Context  map[string]string
	Gene     gene.Gene
	Width    gene.Width // 0: there is no gene
	Sequence uint64     // from Calculated on, as the text shows it
	// Name is the generator's: sequences of two are hidden in ways of their own.
	Name string
	// Hider hides sequences; nil: templates that hide theirs make nothing.
	Hider Hider

	next func(ctx context.Context, scope string) (uint64, error)
}

// Hider hides numbers of so many decimal digits behind others, for each tweak one to one: see the key ring of package cipher.
type Hider interface {
	HideDigits(version uint32, digits int, tweak string, n uint64) (uint64, error)
	RevealDigits(version uint32, digits int, tweak string, n uint64) (uint64, error)
}

// Maker makes a part from what stands behind its name.
type Maker func(argument string) (Part, error)

// Registry knows parts by name. It is a value: With gives another one.
type Registry struct{ makers map[string]Maker }

// Parts is the registry of what this package comes with: time, context, seq,
// gene and check.
func Parts() Registry {
	return Registry{map[string]Maker{"time": timePart, "context": contextPart, "seq": seqPart, "gene": genePart, "check": checkPart}}
}

// With is a registry that knows one part more, or another one by that name.
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
