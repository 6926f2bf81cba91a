package router

import (
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
)

// MaxEntries bounds a map so that its document fits in one etcd value.
const MaxEntries = 1 << 16

// Entry assigns to Shard the genes above the previous entry's bound, up to and including Bound.
type Entry struct {
	Bound gene.Gene
	Shard ShardName
}

// Map assigns each gene of a width to the shard that owns it.
type Map struct {
	width   gene.Width
	version int64
	owners  []owner     // bounds are strictly increasing; the last is width.Last()
	shards  []ShardName // the shards in owners without duplicates, in natural order
	index   index       // start positions of look-ups in owners
	moving  moving
}

// owner is a compact entry for look-ups, half the size, so that more fit in a cache line.
type owner struct {
	bound gene.Gene
	shard int32 // index in Map.shards
}

// New returns the map with the given entries. It returns an error if there are no entries or too many, a bound isn't
// above the previous one or exceeds the width, the last genes have no shard, or a shard's name is invalid. Versions
// begin at 1. Neighbouring entries of the same shard are kept.
func New(w gene.Width, version int64, entries []Entry) (*Map, error) {
	if err := check(w, version, entries); err != nil {
		return nil, fmt.Errorf("route map version %d: %w", version, err)
	}
	shards, numbers, err := number(entries)
	if err != nil {
		return nil, fmt.Errorf("route map version %d: %w", version, err)
	}
	owners := make([]owner, len(entries))
	for i, e := range entries {
		owners[i] = owner{e.Bound, numbers[e.Shard]}
	}
	return &Map{width: w, version: version, owners: owners, shards: shards, index: newIndex(w, owners)}, nil
}

func check(w gene.Width, version int64, entries []Entry) error {
	switch {
	case !w.Valid():
		return fmt.Errorf("genes of %d bits: use 14, 15, 16 or 23", w)
	case version < 1:
		return fmt.Errorf("versions begin at 1")
	case len(entries) == 0:
		return fmt.Errorf("no entries: no gene would have a shard")
	case len(entries) > MaxEntries:
		return fmt.Errorf("%d entries; at most %d fit", len(entries), MaxEntries)
	}
	for i, e := range entries {
		switch {
		case e.Bound > w.Last():
			return entryError(w, i, e, "is beyond %s, the last gene of %d bits", w.Last().Format(w), w)
		case i > 0 && e.Bound == entries[i-1].Bound:
			return entryError(w, i, e, "is the bound of the entry before, too, which has %s", entries[i-1].Shard)
		case i > 0 && e.Bound < entries[i-1].Bound:
			return entryError(w, i, e, "is below the bound before, %s; bounds must rise", entries[i-1].Bound.Format(w))
		}
	}
	if last := entries[len(entries)-1].Bound; last != w.Last() {
		return fmt.Errorf("the last bound is %s and not %s: genes %s..%s would have no shard",
			last.Format(w), w.Last().Format(w), (last + 1).Format(w), w.Last().Format(w))
	}
	return nil
}

func entryError(w gene.Width, i int, e Entry, format string, args ...any) error {
	return fmt.Errorf("entry %d: bound %s of %s "+format, append([]any{i + 1, e.Bound.Format(w), e.Shard}, args...)...)
}

// number assigns indexes to the shards in natural order.
func number(entries []Entry) ([]ShardName, map[ShardName]int32, error) {
	var shards []ShardName
	numbers := make(map[ShardName]int32)
	for i, e := range entries {
		if _, known := numbers[e.Shard]; known {
			continue
		}
		if err := e.Shard.Validate(); err != nil {
			return nil, nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		numbers[e.Shard] = 0
		shards = append(shards, e.Shard)
	}
	slices.SortFunc(shards, ShardName.Compare)
	for i, name := range shards {
		numbers[name] = int32(i)
	}
	return shards, numbers, nil
}

// Version returns the map's version. Every change of a cluster's map increments it by one.
func (m *Map) Version() int64 { return m.version }

// Width returns the number of bits of the map's genes.
func (m *Map) Width() gene.Width { return m.width }

// Entries returns the map's entries. The slice belongs to the caller.
func (m *Map) Entries() []Entry {
	entries := make([]Entry, len(m.owners))
	for i, o := range m.owners {
		entries[i] = Entry{o.bound, m.shards[o.shard]}
	}
	return entries
}

// Shards returns the shards that own genes, or a part of divided ones, without duplicates, in natural order (s2 before
// s10). The slice belongs to the caller. Lookup returns indexes into it. Indexes are fixed for one map but may differ
// in the next.
func (m *Map) Shards() []ShardName { return slices.Clone(m.shards) }

// Shard returns Shards()[i] without copying the slice.
func (m *Map) Shard(i int) ShardName { return m.shards[i] }

// GenesOf returns a shard's genes, or none for a shard that isn't in the map. Divided genes belong to the shard that
// has them in the entries.
func (m *Map) GenesOf(name ShardName) gene.Set {
	var ranges []gene.Range
	for i, o := range m.owners {
		if m.shards[o.shard] == name {
			ranges = append(ranges, m.rangeOf(i))
		}
	}
	return gene.NewSet(ranges...)
}

// rangeOf returns the genes of an entry.
func (m *Map) rangeOf(i int) gene.Range {
	first := gene.Gene(0)
	if i > 0 {
		first = m.owners[i-1].bound + 1
	}
	return gene.Range{First: first, Last: m.owners[i].bound}
}

// String returns one line per stretch, such as "0x0000..0x3fff s0", and one per move.
func (m *Map) String() string {
	var b strings.Builder
	for _, s := range m.Stretches() {
		fmt.Fprintf(&b, "%s..%s  %s\n", s.First.Format(m.width), s.Last.Format(m.width), s.Owners())
	}
	for _, v := range m.moving.moves {
		fmt.Fprintln(&b, v)
	}
	return b.String()
}
