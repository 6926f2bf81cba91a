package gene

import (
	"slices"
	"strings"
)

// Set is an immutable set of genes. The zero value is the empty set. It is safe for concurrent use.
type Set struct {
	// Sorted, disjoint, not empty and not adjacent, so equal sets have equal ranges. Never modified after construction.
	ranges []Range
}

// NewSet returns the set of all the ranges' genes. Ranges may overlap and come in any order. Empty ranges are ignored.
func NewSet(ranges ...Range) Set {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool { return r.Len() == 0 })
	slices.SortFunc(sorted, func(a, b Range) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	var joined []Range
	for _, r := range sorted {
		last := len(joined) - 1
		if last >= 0 && uint64(r.First) <= uint64(joined[last].Last)+1 {
			joined[last].Last = max(joined[last].Last, r.Last)
			continue
		}
		joined = append(joined, r)
	}
	return Set{joined}
}

// ParseSet reads the format of Set.String: "0x0000-0x3fff,0x8000". Empty text is the empty set.
func ParseSet(s string, w Width) (Set, error) {
	if strings.TrimSpace(s) == "" {
		return Set{}, nil
	}
	var ranges []Range
	for part := range strings.SplitSeq(s, ",") {
		r, err := ParseRange(part, w)
		if err != nil {
			return Set{}, err
		}
		ranges = append(ranges, r)
	}
	return NewSet(ranges...), nil
}

// Contains reports whether g is in the set. It doesn't allocate.
func (s Set) Contains(g Gene) bool {
	i, _ := slices.BinarySearchFunc(s.ranges, g, func(r Range, g Gene) int {
		if r.Last < g {
			return -1
		}
		return 1
	})
	return i < len(s.ranges) && s.ranges[i].Contains(g)
}

// Meets reports whether the set contains a gene from first to last, both included. It doesn't allocate.
func (s Set) Meets(first, last Gene) bool {
	i, _ := slices.BinarySearchFunc(s.ranges, first, func(r Range, g Gene) int {
		if r.Last < g {
			return -1
		}
		return 1
	})
	return i < len(s.ranges) && first <= last && s.ranges[i].First <= last
}

// Union returns the genes that are in s or in t.
func (s Set) Union(t Set) Set { return NewSet(slices.Concat(s.ranges, t.ranges)...) }

// Intersect returns the genes that are in both s and t.
func (s Set) Intersect(t Set) Set {
	var both []Range
	a, b := s.ranges, t.ranges
	for len(a) > 0 && len(b) > 0 {
		common := Range{max(a[0].First, b[0].First), min(a[0].Last, b[0].Last)}
		if common.Len() > 0 {
			both = append(both, common)
		}
		if a[0].Last < b[0].Last {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return NewSet(both...)
}

// Subtract returns the genes of s that are not in t.
func (s Set) Subtract(t Set) Set { return s.Intersect(t.complement()) }

// complement returns all values of Gene that are not in s.
func (s Set) complement() Set {
	const end = uint64(^Gene(0)) + 1
	var gaps []Range
	next := uint64(0) // the first value not yet decided
	for _, r := range s.ranges {
		if uint64(r.First) > next {
			gaps = append(gaps, Range{Gene(next), r.First - 1})
		}
		next = uint64(r.Last) + 1
	}
	if next < end {
		gaps = append(gaps, Range{Gene(next), Gene(end - 1)})
	}
	return Set{gaps}
}

// First returns the n lowest genes of the set, or all of them.
func (s Set) First(n int) Set {
	var ranges []Range
	for _, r := range s.ranges {
		if n <= 0 {
			break
		}
		if r.Len() > n {
			r.Last = r.First + Gene(n) - 1
		}
		ranges = append(ranges, r)
		n -= r.Len()
	}
	return Set{ranges}
}

// Len returns the number of genes in the set.
func (s Set) Len() int {
	n := 0
	for _, r := range s.ranges {
		n += r.Len()
	}
	return n
}

// Empty reports whether the set has no gene.
func (s Set) Empty() bool { return len(s.ranges) == 0 }

// Equal reports whether s and t have the same genes.
func (s Set) Equal(t Set) bool { return slices.Equal(s.ranges, t.ranges) }

// Ranges returns the set as ascending ranges with gaps between them. The slice belongs to the caller.
func (s Set) Ranges() []Range { return slices.Clone(s.ranges) }

// String formats the set for ParseSet: "0x0000-0x3fff,0x8000".
func (s Set) String() string {
	var b strings.Builder
	for i, r := range s.ranges {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(r.String())
	}
	return b.String()
}
