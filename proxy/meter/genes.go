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

// Genes counts statements by gene. Of genes with more than 16 bits, neighbours
// share a count. The zero value is ready; safe for concurrent use.
type Genes struct {
	counts    [slots]atomic.Uint32 // since the last turn
	scattered atomic.Uint64        // statements that named no gene

	mu     sync.Mutex // of what follows
	turned time.Time
	weight float64 // of all that has faded into rates; 1 after a long time
	rates  [slots]float32
	spread float64 // of scattered
}

// shift is by how much a gene is longer than the number of its slot.
func shift(w gene.Width) int { return max(0, int(w)-slotBits) }

// Add counts a statement that concerns a gene.
func (g *Genes) Add(w gene.Width, x gene.Gene) { g.counts[(x>>shift(w))&(slots-1)].Add(1) }

// AddScattered counts a statement that may concern any gene.
func (g *Genes) AddScattered() { g.scattered.Add(1) }

// Fading is how long ago a statement was that counts 1/e of one of now.
const Fading = time.Minute

// Turn takes what was counted since the last turn into the rates. It is to be
// called now and then, more often than [Fading].
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
		return // too short for a rate; it is in the next turn
	}
	g.turned = now
	old := math.Exp(-seconds / Fading.Seconds())
	g.weight = g.weight*old + 1 - old
	for i := range g.counts {
		n := uint32(0)
		if g.counts[i].Load() > 0 { // most have none, and a look is cheaper than an exchange
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

// faded is a rate that is as good as none.
const faded = 1e-5
