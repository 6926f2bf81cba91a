package meter

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"locus/idgen/gene"
)

const (
	slotBits = 16
	slots    = 1 << slotBits
)

// Genes counts statements by gene. If genes have more than 16 bits, neighbouring genes share a count. The zero value is ready. It
// is safe for concurrent use.
type Genes struct {
	counts    [slots]atomic.Uint32 // since the last Turn
	scattered atomic.Uint64        // statements that name no gene

	mu     sync.Mutex // guards the fields below
	turned time.Time
	weight float64 // total weight of the counts that have decayed into the rates; approaches 1
	rates  [slots]float32
	spread float64 // rate of scattered
}

// shift is the number of low bits of a gene that its slot ignores.
func shift(w gene.Width) int { return max(0, int(w)-slotBits) }

// Add counts a statement that concerns a gene.
func (g *Genes) Add(w gene.Width, x gene.Gene) { g.counts[(x>>shift(w))&(slots-1)].Add(1) }

// AddScattered counts a statement that may concern any gene.
func (g *Genes) AddScattered() { g.scattered.Add(1) }

// Fading is the age at which a statement counts 1/e of a current one.
const Fading = time.Minute

// Turn adds the counts since the last Turn to the rates. The caller calls it regularly, more often than [Fading].
func (g *Genes) Turn(now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
}

func (g *Genes) turn(now time.Time) {
	if g.turned.IsZero() {
		g.turned = now
		return
	}
	seconds := now.Sub(g.turned).Seconds()
	if seconds < 0.1 {
		return // too short for a rate; counted at the next Turn
	}
	g.turned = now
	old := math.Exp(-seconds / Fading.Seconds())
	g.weight = g.weight*old + 1 - old
	for i := range g.counts {
		n := uint32(0)
		if g.counts[i].Load() > 0 { // most are 0, and a load is cheaper than a swap
			n = g.counts[i].Swap(0)
		}
		if n == 0 && g.rates[i] == 0 {
			continue
		}
		rate := float64(g.rates[i])*old + float64(n)/seconds*(1-old)
		if rate < faded {
			rate = 0
		}
		g.rates[i] = float32(rate)
	}
	g.spread = g.spread*old + float64(g.scattered.Swap(0))/seconds*(1-old)
}

// faded is the smallest rate that is kept. A lower one becomes 0.
const faded = 1e-5
