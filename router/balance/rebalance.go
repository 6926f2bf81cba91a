package balance

import (
	"slices"

	"locus/idgen/gene"
	"locus/router"
)

// Move proposes to move genes from one shard to another.
type Move struct {
	From, To router.ShardName
	Genes    gene.Set
	Weight   float64 // of Genes
}

// Rebalance proposes moves after which no shard has much more than an equal part of the total weight. tolerance is the
// permitted excess as a share of that part. Moving genes aren't included. Each move has few ranges, and few genes if
// heavy ones suffice. There are fewer moves than shards.
func Rebalance(m *router.Map, shards []router.ShardName, weight Weight, tolerance float64) ([]Move, error) {
	b := newBalance(m, shards, weight)
	if b.fair <= 0 {
		return nil, ErrNoWeight
	}
	var moves []Move
	for range 2 * len(shards) {
		from, to := b.extremes()
		if b.load[from] <= b.fair*(1+tolerance) || from == to {
			break
		}
		chosen := b.choose(from, to)
		if chosen == nil {
			b.stuck[from] = true // the shard's genes can't be divided in a useful way
			continue
		}
		moves = b.move(moves, from, to, chosen)
	}
	return moves, nil
}

// balance is the state after the moves so far.
type balance struct {
	shards []router.ShardName
	units  [][]unit // movable units of each shard, in order
	load   []float64
	stuck  []bool
	fair   float64
}

func newBalance(m *router.Map, shards []router.ShardName, weight Weight) *balance {
	b := &balance{shards: shards, stuck: make([]bool, len(shards))}
	for _, name := range shards {
		owned := m.GenesOf(name)
		b.units = append(b.units, unitsOf(m.Width(), owned.Subtract(m.Moving()), weight))
		b.load = append(b.load, sum(unitsOf(m.Width(), owned, weight)))
		b.fair += b.load[len(b.load)-1] / float64(len(shards))
	}
	return b
}

// extremes returns the heaviest shard that can still give genes, and the lightest shard.
func (b *balance) extremes() (most, least int) {
	most = -1
	for i := range b.load {
		if !b.stuck[i] && (most < 0 || b.load[i] > b.load[most]) {
			most = i
		}
		if b.load[i] < b.load[least] {
			least = i
		}
	}
	if most < 0 {
		most = least
	}
	return most, least
}

// choose finds consecutive units of one shard whose move makes the heavier of the two shards about as light as
// possible. Among equal choices it prefers the fewest genes. It returns nil if no choice helps much.
func (b *balance) choose(from, to int) []unit {
	wanted := min(b.load[from]-b.fair, b.fair-b.load[to])
	units := b.units[from]
	breaks := breaksOf(units)
	lowest := b.load[from] * (1 - near/10)
	windows(units, wanted, func(first, last int, weighs float64) {
		if breaks[last]-breaks[first] < mostRuns {
			lowest = min(lowest, max(b.load[from]-weighs, b.load[to]+weighs))
		}
	})
	var best []unit
	windows(units, wanted, func(first, last int, weighs float64) {
		after := max(b.load[from]-weighs, b.load[to]+weighs)
		if breaks[last]-breaks[first] < mostRuns && after <= lowest+near*wanted && after < b.load[from] &&
			(best == nil || last-first+1 < len(best)) {
			best = units[first : last+1]
		}
	})
	return best
}

// windows tries every unit alone, and for every unit the run that ends there with about the wanted weight. It never
// tries all units together.
func windows(units []unit, wanted float64, try func(first, last int, weighs float64)) {
	weighs, first := 0.0, 0
	for last := range units {
		if len(units) > 1 && units[last].weight > 0 {
			try(last, last, units[last].weight)
		}
		weighs += units[last].weight
		for weighs > wanted*(1+near) && first <= last {
			weighs -= units[first].weight
			first++
		}
		// Light units at its start only enlarge the run.
		for first < last && weighs-units[first].weight >= wanted {
			weighs -= units[first].weight
			first++
		}
		if first <= last && last-first+1 < len(units) && weighs > 0 {
			try(first, last, weighs)
		}
	}
}

// breaksOf counts, up to each unit, the units that don't directly follow their predecessor.
func breaksOf(units []unit) []int {
	breaks := make([]int, len(units))
	for i := 1; i < len(units); i++ {
		breaks[i] = breaks[i-1]
		if units[i].First != units[i-1].Last+1 {
			breaks[i]++
		}
	}
	return breaks
}

// move records a move, merged with an earlier one between the same shards.
func (b *balance) move(moves []Move, from, to int, chosen []unit) []Move {
	made := Move{From: b.shards[from], To: b.shards[to], Genes: setOf(chosen), Weight: sum(chosen)}
	b.load[from] -= made.Weight
	b.load[to] += made.Weight
	b.units[from] = slices.DeleteFunc(slices.Clone(b.units[from]), func(u unit) bool { return made.Genes.Contains(u.First) })
	for i := range moves {
		if moves[i].From == made.From && moves[i].To == made.To {
			moves[i].Genes, moves[i].Weight = moves[i].Genes.Union(made.Genes), moves[i].Weight+made.Weight
			return moves
		}
	}
	return append(moves, made)
}
