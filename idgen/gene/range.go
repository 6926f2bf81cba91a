package gene

import (
	"fmt"
	"strconv"
	"strings"
)

// Range is the genes from First to Last, both included. If First is above Last, it is empty.
type Range struct{ First, Last Gene }

// All returns all genes of the width.
func All(w Width) Range { return Range{0, w.Last()} }

// Contains reports whether g is in the range.
func (r Range) Contains(g Gene) bool { return r.First <= g && g <= r.Last }

// Len returns the number of genes in the range.
func (r Range) Len() int {
	if r.First > r.Last {
		return 0
	}
	return int(r.Last-r.First) + 1
}

// String formats the range for ParseRange: "0x0000-0x3fff", or "0x8000" for one gene.
func (r Range) String() string {
	if r.First == r.Last {
		return r.First.String()
	}
	w := W16
	if r.Last > w.Last() {
		w = W23
	}
	return r.First.Format(w) + "-" + r.Last.Format(w)
}

// ParseRange reads "0x0000-0x3fff" or "0x8000". The 0x is required, because "8000" could be decimal. It also reads
// "0x0000..0x3fff", the route map's format.
func ParseRange(s string, w Width) (Range, error) {
	from, to, isRange := strings.Cut(strings.Replace(s, "..", "-", 1), "-")
	if !isRange {
		to = from
	}
	first, err := parseGene(from, w)
	if err != nil {
		return Range{}, fmt.Errorf("gene range %q: %w", s, err)
	}
	last, err := parseGene(to, w)
	if err != nil {
		return Range{}, fmt.Errorf("gene range %q: %w", s, err)
	}
	if first > last {
		return Range{}, fmt.Errorf("gene range %q ends before it begins: write it as %s", s, Range{last, first})
	}
	return Range{first, last}, nil
}

func parseGene(s string, w Width) (Gene, error) {
	s = strings.TrimSpace(s)
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		return 0, fmt.Errorf("%q is not a gene: write it in hex, like 0x3eab", s)
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a gene: write it in hex, like 0x3eab", s)
	}
	if g := Gene(n); g <= w.Last() {
		return g, nil
	}
	return 0, fmt.Errorf("gene %s is beyond %s, the last one of %d bits", s, w.Last().Format(w), w)
}
