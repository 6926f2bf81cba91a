package events

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"locus/config/etcd"
)

// Keys in etcd, relative to the cluster's prefix.
const (
	Prefix = "events/"
	end    = "events0" // the first key after those with the prefix
)

// Limits of the stored events.
const (
	// MaxAge is the age at which events are removed.
	MaxAge = 30 * 24 * time.Hour
	// MaxCount is the number of events that are kept. With [MaxBytes] it bounds the bytes.
	MaxCount = 50_000
)

// maxWrites is the number of writes that a server of etcd accepts in one transaction by default.
const maxWrites = 128

// instant is a time in keys: the nanoseconds since 1970. Times that keys can't express become the nearest one.
type instant int64

func instantOf(t time.Time) instant {
	switch {
	case t.Unix() < 0:
		return 0
	case t.Unix() >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	}
	return instant(t.UnixNano())
}

// key returns the beginning of the keys of events at the instant. Keys sort the latest event first, since etcd reads ranges in the order of
// their keys and sorts any other order itself, after it has read all of them.
func (i instant) key() string { return fmt.Sprintf("%s%016x", Prefix, math.MaxInt64-int64(i)) }

// before returns the first key after the keys of events at this instant or later.
func (i instant) before() string { return i.key() + "." } // which sorts after '-'

func newKey(at instant) string { return fmt.Sprintf("%s-%08x", at.key(), rand.Uint32()) }

// Put returns the write of an event.
func Put(e Event) etcd.Write { return etcd.Put(newKey(instantOf(e.At)), e.encode()) }

// Add adds events to the writes of a transaction, in which they are written if and only if the transaction is. The events of one
// transaction keep their order. Events that don't fit into a transaction are returned.
func Add(writes []etcd.Write, list ...Event) (all []etcd.Write, left []Event) {
	fit := max(0, min(len(list), maxWrites-len(writes)))
	for i, e := range list[:fit] {
		writes = append(writes, etcd.Put(newKey(instantOf(e.At)+instant(i)), e.encode()))
	}
	return writes, list[fit:]
}
