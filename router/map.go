package router

import (
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
)

// MaxEntries bounds a map, so that its document fits into one etcd value.
const MaxEntries = 1 << 16

// Entry says that Shard owns the genes up to and including Bound, from the gene
// after the bound of the entry before.
type Entry struct {
	Bound gene.Gene
	Shard ShardName
}

// Map says for every gene of a width which shard owns it.
type Map struct {
	width   gene.Width
	version int64
	owners  []owner     // bounds rise strictly; the last is width.Last()
	shards  []ShardName // those in owners, each once, in natural order
	index   index       // where look-ups in owners begin
	moving  moving
}

// owner is an entry as look-ups want it: half the size, in one cache line.
type owner struct {
	bound gene.Gene
	shard int32 // into Map.shards
}

// New is the map of the entries, or the reason why they are not one: no entries
// or too many, a bound that doesn't rise or is beyond the width, genes without a
// shard at the end, a name that can't be a shard's. Versions begin at 1.
// Neighbours of the same shard are kept as they are.
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

// number gives every shard its place in natural order.
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

// Version rises by one with every change of a cluster's map.
func (m *Map) Version() int64 { return m.version }

// Width is the number of bits of the genes that the map routes.
func (m *Map) Width() gene.Width { return m.width }

// Entries is the map as a list that belongs to the caller.
func (m *Map) Entries() []Entry {
	entries := make([]Entry, len(m.owners))
	for i, o := range m.owners {
		entries[i] = Entry{o.bound, m.shards[o.shard]}
	}
	return entries
}

// Shards is the shards that own genes, or a part of divided ones, each once, in natural order (s2 before
// s10); the slice belongs to the caller. A shard's index is what Lookup gives.
// It stays the same within this map, and may be another in the next.
func (m *Map) Shards() []ShardName { return slices.Clone(m.shards) }

// Shard is the name of Shards()[i], without a copy.
func (m *Map) Shard(i int) ShardName { return m.shards[i] }

// GenesOf is the genes of a shard: none if the map doesn't have it. Divided genes are
// those of who has them in the entries.
func (m *Map) GenesOf(name ShardName) gene.Set {
	var ranges []gene.Range
	for i, o := range m.owners {
		if m.shards[o.shard] == name {
			ranges = append(ranges, m.rangeOf(i))
		}
	}
	return gene.NewSet(ranges...)
}

// rangeOf is the genes of an entry.
func (m *Map) rangeOf(i int) gene.Range {
	first := gene.Gene(0)
	if i > 0 {
		first = m.owners[i-1].bound + 1
	}
	return gene.Range{First: first, Last: m.owners[i].bound}
}

// String is one line per stretch, such as "0x0000..0x3fff  s0", and one per move.
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
