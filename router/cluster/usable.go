package cluster

import (
	"cmp"
	"errors"
	"math/bits"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/idgen/format"
	"locus/router/catalog"
)

// checkUsable refuses generators that would fail as soon as they are used. It checks only generators that are new or changed.
// So a generator that was declared before such a check existed does not prevent other changes.
func checkUsable(old, next *Cluster, now time.Time) error {
	var p problems
	for _, name := range next.GeneratorNames() {
		if old == nil || next.generatorChanged(old, name) {
			next.checkUse(&p, name)
			next.checkEpoch(&p, name, now)
		}
	}
	return errors.Join(p...)
}

// generatorChanged reports whether a generator is declared differently, or takes larger numbers from others. Another address
// of a server of theirs is no such change.
func (c *Cluster) generatorChanged(old *Cluster, name string) bool {
	before, was := old.Generators[name]
	return !was || !reflect.DeepEqual(before, c.Generators[name]) || slices.ContainsFunc(before.Of, func(of string) bool { return c.soon(of) > old.soon(of) })
}

func (c *Cluster) checkUse(p *problems, name string) {
	g, document := c.Generators[name], "generator "+name
	if g.MinStep > mostStep {
		p.add(document, "min_step %d is above %d", g.MinStep, uint64(mostStep))
	}
	if long := c.longestItem(name, name); long > longestKey {
		p.add(document, "it takes numbers from memcached under a key of %d bytes, which is made of the names of all generators in front: at most %d fit; give them shorter names", long, longestKey)
	}
	t, err := format.Parse(g.Template, format.Parts())
	if g.Kind != FormatGenerator || err != nil { // Validate refuses others
		return
	}
	if _, _, shown := t.GeneAt(); t.OfOwner() != "" && !shown {
		p.add(document, "template %q: part %s: the texts of a declared generator show the gene of a stamped row in one place: write {gene:%d}, and give parts in front of it a fixed length",
			g.Template, t.OfOwner(), catalog.GeneDigits(c.Settings.GeneBits))
	}
	c.checkDigits(p, document, g, t)
}

// checkEpoch refuses a snowflake that begins later than now, which is zero if it is unknown.
func (c *Cluster) checkEpoch(p *problems, name string, now time.Time) {
	if g := c.Generators[name]; g.Kind == SnowflakeGenerator && !now.IsZero() && g.Since().After(now) {
		p.add("generator "+name, "epoch %s is in the future, and no number can be made before", g.Since().Format(time.RFC3339Nano))
	}
}

// HiddenBy returns the key versions that hide the sequences of formats, by the generator's name. It leaves out those that
// old declares in the same way; old may be nil.
func (c *Cluster) HiddenBy(old *Cluster) map[string]uint32 {
	versions := map[string]uint32{}
	for name, g := range c.Generators {
		t, err := format.Parse(g.Template, format.Parts())
		if g.Kind != FormatGenerator || err != nil || old != nil && !c.generatorChanged(old, name) {
			continue
		}
		if version := t.Sequence().Hidden; version != 0 {
			versions[name] = version
		}
	}
	return versions
}

// mostStep is the longest segment that a generator takes.
const mostStep = 1 << 32

// thousand numbers must fit into a sequence that is another generator's.
const thousand = 1000

// checkDigits refuses a template with too few digits for the numbers that its sequence soon has.
func (c *Cluster) checkDigits(p *problems, document string, g Generator, t *format.Template) {
	room := t.Sequence().Max
	if len(g.Of) == 0 {
		if needed := len(strconv.FormatUint(g.Start, 10)); g.Start > 0 && room < needed {
			p.add(document, "template %q: part seq: start %d has %d digits, and the sequence has %d", g.Template, g.Start, needed, room)
		}
		if needed := len(strconv.FormatUint(2*g.MinStep, 10)); g.MinStep > 1 && room < needed {
			p.add(document, "template %q: part seq: with min_step %d a second process begins at %d, and the sequence has %d digits: give it %d at least, or a smaller min_step",
				g.Template, g.MinStep, g.MinStep+1, room, needed)
		}
		return
	}
	soon := c.soon(g.Of[0])
	if needed := len(strconv.FormatUint(soon, 10)); room < needed {
		p.add(document, "template %q: part seq: of %s: its numbers are soon above %d, and the sequence has %d digits: give it %d at least, or leave `of` out: "+
			"a sequence of its own, such as {seq:8,per=yyyyMMdd}, begins at 1", g.Template, g.Of[0], tenTo(room)-1, room, needed)
	}
}

// tenTo returns the first number that has more digits.
func tenTo(digits int) uint64 {
	n := uint64(1)
	for range digits {
		n *= 10
	}
	return n
}

const (
	epochBits = 26         // bits below the epoch of buckets, for a bucket's number and count
	epochs    = 1 << 16    // each bucket begins one, and another one after each restart of Redis
	granted   = 100_000    // numbers that Redis or memcached is filled with at once; see packages pool and memcached
	spanned   = 1000       // numbers that a key of Redis takes at once; see package pool
	stepped   = 10_000_000 // the default max_step of segments, which they reach if numbers are taken fast
)

// soon returns a number that a generator reaches in its first use by several processes, on all of its servers. For one that
// counts time, it is a number that is made some years after its epoch. The generator must not take numbers from itself.
func (c *Cluster) soon(name string) uint64 {
	return c.Generators[name].Start + c.soonCounted(name)
}

// soonCounted is like soon, as if the generator began at 1.
func (c *Cluster) soonCounted(name string) uint64 {
	g := c.Generators[name]
	if g.Ordered {
		return thousand
	}
	places := uint64(g.places())
	switch g.Kind {
	case SnowflakeGenerator:
		return 1 << 62
	case BucketsGenerator:
		return epochs << epochBits
	case AutoIncrementGenerator:
		return thousand << (bits.Len(uint(max(1, len(g.Shards)))) - 1)
	case HAGenerator, QueueGenerator:
		return c.soonOfOthers(g)
	case SegmentGenerator:
		step := cmp.Or(g.MaxStep, max(g.MinStep, stepped))
		if places > 1 {
			return 2*places*max(granted, 4*step) + thousand
		}
		return 2*step + thousand
	case RedisGenerator, MemcachedGenerator:
		if places > 1 {
			return 2*places*granted + thousand
		}
		return 2*uint64(g.Keys)*spanned + thousand
	case RowGenerator, FormatGenerator:
	}
	return thousand
}

// soonOfOthers is like soonCounted, for a generator that adds low bits to the numbers of other generators.
func (c *Cluster) soonOfOthers(g Generator) uint64 {
	most := uint64(thousand) // the largest of all, since each is asked in turn
	for _, of := range g.Of {
		most = max(most, c.soon(of))
	}
	if g.Kind == HAGenerator {
		return most << (bits.Len(uint(len(g.Of))) - 1)
	}
	return most << g.Bits
}

// places returns the number of servers, or parts of a Redis Cluster, each of which has a grant of its own.
func (g Generator) places() int {
	if g.Cluster {
		return max(1, g.Keys)
	}
	return max(1, len(g.Several))
}

// longestKey is the size of a key of memcached.
const longestKey = 250

// longestItem returns the size of the longest key in memcached of a generator and those from which it takes numbers, or 0.
// counter is the name of its counter.
func (c *Cluster) longestItem(name, counter string) (long int) {
	g := c.Generators[name]
	if g.Kind == MemcachedGenerator {
		return len("locus:ABCDEFGHIJKL:generator/") + len(counter) + len(":-") + 2*digits
	}
	for i, of := range g.Of {
		long = max(long, c.longestItem(of, strings.Join([]string{counter, strconv.Itoa(i) + "-" + of}, "/")))
	}
	return long
}
