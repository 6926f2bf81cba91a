package router

import (
	"math/bits"

	"locus/idgen/gene"
)

// index divides the genes into equal buckets and stores the first owner of each. With a few buckets per entry, almost every
// bucket is within one or two entries, regardless of the map's size.
type index struct {
	shift uint8   // a gene's bucket is gene >> shift
	from  []int32 // per bucket, the entry of its first gene; then the last entry
}

// bucketsPerEntry trades the index's memory (4 bytes per bucket) for steps of a look-up.
const bucketsPerEntry = 4

func newIndex(w gene.Width, owners []owner) index {
	bucketBits := min(bits.Len(uint(len(owners)*bucketsPerEntry-1)), int(w), 17)
	shift := int(w) - bucketBits
	from := make([]int32, 1<<bucketBits+1)
	entry := int32(0)
	for bucket := range 1 << bucketBits {
		for owners[entry].bound < gene.Gene(bucket<<shift) {
			entry++
		}
		from[bucket] = entry
	}
	from[1<<bucketBits] = int32(len(owners) - 1)
	return index{uint8(shift), from}
}

// Lookup returns the index in [Map.Shards] of the shard that owns the gene. It takes no lock and doesn't
// allocate. For a divided gene it returns the shard that has the gene in the entries and owns some of its rows;
// see [Map.Sides]. It panics for a gene beyond the map's width. That is a bug of the caller, and any result
// would put a row on a shard where it is not found.
func (m *Map) Lookup(g gene.Gene) int { return int(m.owners[m.entryOf(g)].shard) }

// entryOf returns the index of a gene's entry: the first whose bound is not below the gene.
func (m *Map) entryOf(g gene.Gene) int32 {
	bucket := g >> (m.index.shift & 31)
	low := m.index.from[bucket]
	// The entry is between low and low+more. The bisection has no branch that depends on the gene, since the processor
	// would mispredict half of them. below is all ones if the middle's bound is below the gene.
	for more := m.index.from[bucket+1] - low; more > 0; {
		half := (more + 1) / 2
		below := int32(m.owners[low+half-1].bound-g) >> 31
		low += half & below
		more -= half
	}
	return low
}

// ShardsOf appends to dst the indexes of the shards that own rows of genes from first to last, both included, in
// ascending order without duplicates. It appends nothing if first > last. It allocates only if dst is too small or the
// map has more than 1,024 shards.
func (m *Map) ShardsOf(first, last gene.Gene, dst []int) []int {
	if first > last {
		return dst
	}
	if first == 0 && last == m.width.Last() { // a read of everything concerns all shards
		for i := range m.shards {
			dst = append(dst, i)
		}
		return dst
	}
	var few [16]uint64
	seen := few[:]
	if len(m.shards) > len(few)*64 {
		seen = make([]uint64, (len(m.shards)+63)/64)
	}
	missing := len(m.shards)
	end := m.entryOf(last)
	for i := m.entryOf(first); i <= end && missing > 0; i++ {
		word, bit := m.owners[i].shard/64, uint64(1)<<(m.owners[i].shard%64)
		if seen[word]&bit == 0 {
			seen[word] |= bit
			missing--
		}
	}
	for i := range m.moving.divisions {
		if d := &m.moving.divisions[i]; d.genes.Meets(first, last) {
			seen[d.to/64] |= 1 << (d.to % 64)
		}
	}
	for i, word := range seen {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, i*64+bits.TrailingZeros64(word))
		}
	}
	return dst
}
