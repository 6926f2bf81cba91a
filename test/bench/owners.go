package main

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
	"github.com/spaolacci/murmur3"
)

// The buyers of this program, far above those of a demo. Each reader owns exactly one order, and gets no new
// ones. The readers' numbers are consecutive, so that a range of them covers every shard. Writers get new
// orders.
const (
	firstReader int64 = 4_000_000_000_000_000
	readers           = 4000 // of all shards together
	firstWriter int64 = 5_000_000_000_000_000
	writers           = 1024 // of the first shard
	firstBuyer        = firstReader
	lastBuyer   int64 = 5_999_999_999_999_999
)

// Order IDs from the client have the product's default layout, | 0 | gene (16) | key version (5) | sequence
// (42) |, with version 0. Their sequences begin far above those of a demo, and have a separate range for each
// use, because buyers may share a gene.
const (
	sequenceBits = 42
	versionBits  = 5

	readerSequences int64 = 1 << (sequenceBits - 1)
	writerSequences       = readerSequences + 1_000_000
	bigSequences          = writerSequences + 1_000_000
	freshSequences        = bigSequences + 10_000_000
)

// owner is a buyer with the gene that routes it and the order that it has from the start.
type owner struct {
	uid   int64
	gene  uint64
	order int64
}

// geneOf computes the gene independently of the product: the low 16 bits of xxhash64 XOR the first word of
// MurmurHash3 x64-128, both over the 8 little-endian bytes.
func geneOf(uid int64) uint64 {
	b := binary.LittleEndian.AppendUint64(nil, uint64(uid))
	return (xxhash.Sum64(b) ^ murmur3.Sum64(b)) & 0xffff
}

func newOwner(uid, sequence int64) owner {
	o := owner{uid: uid, gene: geneOf(uid)}
	o.order = o.orderID(sequence)
	return o
}

func (o owner) orderID(sequence int64) int64 {
	return int64(o.gene)<<(versionBits+sequenceBits) | sequence
}

// orderNumber replaces a ciphered number. The clear bits stay, and the sequence is scattered by a bijection
// (multiplication by an odd number), so that its index is as expensive as with real order numbers.
func orderNumber(order int64) int64 {
	const odd, mask = 0x27d4eb2f165667, 1<<sequenceBits - 1
	return order&^mask | (order*odd)&mask
}

// cast are the buyers by where their rows are.
type cast struct {
	readers  []owner // on s0
	others   []owner // readers on the last shard
	writers  []owner // on s0
	bigBuyer owner   // on s0: its orders are one big result
}

func newCast(lastGene uint64) cast {
	var c cast
	for i := range int64(readers) {
		if o := newOwner(firstReader+i, readerSequences+i); o.gene <= lastGene {
			c.readers = append(c.readers, o)
		} else {
			c.others = append(c.others, o)
		}
	}
	for i := int64(0); len(c.writers) < writers; i++ {
		if o := newOwner(firstWriter+i, writerSequences+i); o.gene <= lastGene {
			c.writers = append(c.writers, o)
		}
	}
	for uid := lastBuyer; c.bigBuyer.uid == 0; uid-- {
		if geneOf(uid) <= lastGene {
			c.bigBuyer = newOwner(uid, bigSequences)
		}
	}
	return c
}
