package meter

import (
	"cmp"
	"math"
	"slices"
	"time"

	"locus/idgen/gene"
)

// A report lists the mostTop slots with the highest rates singly, and the sums of the others by stripe.
const (
	mostTop = 256
	stripes = 256
)

// Load contains one proxy's statements per second by gene, in a few kilobytes.
type Load struct {
	// Heaviest lists slots of genes and their rates.
	Heaviest []Rate `json:"heaviest,omitempty"`
	// Stripes contains the sums of all other rates, over runs of 256 slots.
	Stripes   []float64 `json:"stripes,omitempty"`
	Scattered float64   `json:"scattered"`
}

// Rate is the number of statements per second on a slot's genes.
type Rate struct {
	Slot      int     `json:"slot"`
	PerSecond float64 `json:"per_second"`
}

// Load returns the current rates over the last minutes.
func (g *Genes) Load(now time.Time) Load {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn(now)
	var l Load
	if g.weight == 0 {
		return l
	}
	l.Scattered = rounded(g.spread / g.weight)
	var all []Rate
	for i, rate := range g.rates {
		if rate > 0 {
			all = append(all, Rate{i, float64(rate) / g.weight})
		}
	}
	slices.SortFunc(all, func(a, b Rate) int { return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(a.Slot, b.Slot)) })
	l.Heaviest = slices.Clone(all[:min(mostTop, len(all))])
	if rest := all[len(l.Heaviest):]; len(rest) > 0 {
		l.Stripes = make([]float64, stripes)
		for _, r := range rest {
			l.Stripes[r.Slot*stripes/slots] += r.PerSecond
		}
	}
	for i := range l.Heaviest {
		l.Heaviest[i].PerSecond = rounded(l.Heaviest[i].PerSecond)
	}
	for i := range l.Stripes {
		l.Stripes[i] = rounded(l.Stripes[i])
	}
	return l
}

// rounded returns f with four significant digits, to shorten reports.
func rounded(f float64) float64 {
	if f == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(f))-3)
	return math.Round(f/unit) * unit
}

// Loads is the load of several proxies together.
type Loads struct {
	// Scattered is the number of statements per second that concern every gene.
	Scattered float64

	width gene.Width
	rates [slots]float64
}

// Sum adds up the proxies' reports. Rates that a report doesn't list singly are spread evenly over the genes of their
// stripe.
func Sum(w gene.Width, reports ...Load) *Loads {
	l := &Loads{width: w}
	for _, r := range reports {
		l.Scattered += r.Scattered
		named := map[int]bool{}
		for _, h := range r.Heaviest {
			if h.Slot >= 0 && h.Slot < slots {
				named[h.Slot] = true
				l.rates[h.Slot] += h.PerSecond
			}
		}
		l.spread(r.Stripes, named)
	}
	return l
}

func (l *Loads) spread(all []float64, named map[int]bool) {
	used := min(slots, int(l.width.Last())+1)
	for s, rate := range all[:min(len(all), stripes)] {
		first, end := s*slots/stripes, min((s+1)*slots/stripes, used)
		others := 0
		for i := first; i < end; i++ {
			if !named[i] {
				others++
			}
		}
		for i := first; i < end && rate > 0; i++ {
			if !named[i] {
				l.rates[i] += rate / float64(others)
			}
		}
	}
}

// At returns the statements per second on a gene. Genes that share a count get equal parts of it.
func (l *Loads) At(g gene.Gene) float64 {
	return l.rates[(g>>shift(l.width))&(slots-1)] / float64(int(1)<<shift(l.width))
}

// Of returns the statements per second on the genes of a set.
func (l *Loads) Of(set gene.Set) float64 {
	sum := 0.0
	step := gene.Gene(1) << shift(l.width)
	for _, r := range set.Ranges() {
		for g := r.First; g <= r.Last; {
			next := min((g/step+1)*step, r.Last+1)
			sum += l.At(g) * float64(next-g)
			g = next
		}
	}
	return sum
}
