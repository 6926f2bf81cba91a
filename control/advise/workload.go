package advise

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"locus/router/stmt"
)

// Limits of the statements that a workload keeps.
const (
	mostDigests = 10_000
	// mostSamples is the number of executions of a digest that are planned. They are chosen at random.
	mostSamples = 16
	mostBytes   = 128 << 20 // of all samples together
	mostText    = 1 << 20   // of one sample
	mostLetters = 1000      // length of a digest's text in reports
)

// Digest is a group of statements that differ only in their values.
type Digest struct {
	Database string
	Text     string
	Count    uint64
	Seconds  float64

	samples []string
	offered uint64 // executions that could have been a sample
	bare    bool   // the samples are the server's digest, without values
	several uint64 // executions that ran on several shards, as proxies have counted
}

// Workload contains the statements that a server has run. It is not safe for concurrent use.
type Workload struct {
	// Sources are the logs and servers that it was read from.
	Sources []string
	// Notes are about missing statements.
	Notes []string
	// Over is the time in which the executions were counted. 0: it is not known.
	Over time.Duration
	// Others is the number of executions that belong to no digest, because there are too many digests.
	Others uint64

	digests map[digestKey]*Digest
	bytes   int
	random  *rand.Rand
}

type digestKey struct{ database, hash string }

// NewWorkload returns an empty workload.
func NewWorkload() *Workload {
	return &Workload{digests: map[digestKey]*Digest{}, random: rand.New(rand.NewPCG(1, 2))}
}

// Digests returns the digests, those with the most executions first.
func (w *Workload) Digests() []*Digest {
	list := make([]*Digest, 0, len(w.digests))
	for _, d := range w.digests {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *Digest) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Database, b.Database))
	})
	return list
}

// Add counts one execution.
func (w *Workload) Add(database, text string, seconds float64) {
	d := w.count(database, text, 1, seconds)
	if d == nil {
		return
	}
	d.offered++
	w.sample(d, text)
}

// AddDigest counts the executions of a digest. sample is one of them, or empty if the server keeps none. digest is the server's text of it.
func (w *Workload) AddDigest(database, digest, sample string, count uint64, seconds float64) {
	w.addDigest(database, digest, sample, count, seconds)
}

// addDigest is AddDigest. It returns nil if there are too many digests.
func (w *Workload) addDigest(database, digest, sample string, count uint64, seconds float64) *Digest {
	text := sample
	if text == "" {
		text = variables.Replace(digest)
	}
	d := w.count(database, text, count, seconds)
	if d != nil && d.samples == nil {
		d.offered, d.bare = 1, sample == ""
		w.sample(d, text)
	}
	return d
}

// count adds executions to their digest. It returns nil if there are too many digests.
func (w *Workload) count(database, text string, count uint64, seconds float64) *Digest {
	digest := digestOf(text)
	key := digestKey{database, digest.Hash}
	d := w.digests[key]
	if d == nil {
		if len(w.digests) == mostDigests {
			w.Others += count
			return nil
		}
		d = &Digest{Database: database, Text: digest.Text}
		w.digests[key] = d
	}
	d.Count += count
	d.Seconds += seconds
	return d
}

// digestOf returns the digest of a text. All texts that are too long to be planned and have the same beginning
// share a digest.
func digestOf(text string) stmt.Digest {
	if len(text) > mostText {
		return stmt.Digest{Hash: "long " + text[:20], Text: fmt.Sprintf("%s… (longer than %d bytes)", text[:20], mostText)}
	}
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	return l.Digest(mostLetters)
}

// sample keeps an execution with equal probability for all of them.
func (w *Workload) sample(d *Digest, text string) {
	if len(text) > mostText || w.bytes+len(text) > mostBytes && len(d.samples) > 0 {
		return
	}
	switch {
	case len(d.samples) < mostSamples && w.bytes+len(text) <= mostBytes:
		d.samples = append(d.samples, text)
		w.bytes += len(text)
	case len(d.samples) > 0:
		if at := w.random.Uint64N(d.offered); at < uint64(len(d.samples)) {
			w.bytes += len(text) - len(d.samples[at])
			d.samples[at] = text
		}
	}
}
