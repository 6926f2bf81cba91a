package series

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"locus/control/fleet"
)

// Span is how far back figures go, and how far apart they are.
type Span struct {
	Name string
	Step time.Duration
	Keep int // points
}

// Spans are those that are kept.
var Spans = []Span{
	{"15m", 5 * time.Second, 180},
	{"1h", 20 * time.Second, 180},
}

// mostKeys bounds a point: beyond, single shards of single proxies are left out, and then
// proxies. With the two spans that is some 15 MB.
const mostKeys = 400

// Key is whose figures they are.
type Key struct {
	Proxy string // empty: of all
	Shard string // likewise
}

// Point is the figures between two looks.
type Point struct {
	PerSecond, Errors, P50Ms, P99Ms float32
	InUse, Limit, Waiting           int32
	LagMs                           int32
}

// Move is how a move was at one time.
type Move struct {
	AtTarget                float32 // percent of its genes
	Rows                    float32 // per second
	LagMs                   int32
	BeforeP99Ms, SinceP99Ms float32 // 0: no statement was counted
	BeforeFailed            float32 // percent of the statements
	SinceFailed             float32
}

// mostMoves bounds those of a point.
const mostMoves = 32

// Keeper keeps the figures. Safe for concurrent use.
type Keeper struct {
	mu    sync.Mutex // of what follows
	rings []ring     // one for each of Spans
}

// ring is the points of one span, the oldest first.
type ring struct {
	last   map[string]fleet.Beat // that the next point begins with
	lastAt time.Time
	points []sample
}

type sample struct {
	at    time.Time
	keys  map[Key]Point
	moves map[string]Move
}

// New has nothing yet.
func New() *Keeper { return &Keeper{rings: make([]ring, len(Spans))} }

// slack is how much earlier than a step may be over a look counts: looks don't come to the
// millisecond.
const slack = 500 * time.Millisecond

// Look is what was seen at one time: beats of all proxies, by shard how far moves lag, in
// milliseconds, and the moves themselves.
type Look struct {
	Beats map[string]fleet.Beat
	Lags  map[string]int64
	Moves map[string]Move
}

// Add notes a look. Those that come more often than steps are for nobody.
func (k *Keeper) Add(now time.Time, look Look) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, span := range Spans {
		r := &k.rings[i]
		if now.Sub(r.lastAt) < span.Step-slack {
			continue
		}
		if r.last != nil {
			if over := len(r.points) + 1 - span.Keep; over > 0 {
				r.points = slices.Delete(r.points, 0, over)
			}
			r.points = append(r.points, sample{now, pointsOf(r.last, look.Beats, look.Lags), bounded(look.Moves)})
		}
		r.last, r.lastAt = look.Beats, now
	}
}

func bounded(moves map[string]Move) map[string]Move {
	if len(moves) <= mostMoves {
		return moves
	}
	some := map[string]Move{}
	for _, id := range slices.Sorted(maps.Keys(moves))[:mostMoves] {
		some[id] = moves[id]
	}
	return some
}

// pointsOf computes the figures of everybody between two looks: of all, of shards, of
// proxies, of shards of proxies, as far as there is room.
func pointsOf(before, now map[string]fleet.Beat, lags map[string]int64) map[Key]Point {
	points := map[Key]Point{{}: point(before, now, "", lags)}
	add := func(k Key, before, now map[string]fleet.Beat) {
		if len(points) < mostKeys {
			points[k] = point(before, now, k.Shard, lags)
		}
	}
	for _, shard := range shardsOf(now) {
		add(Key{Shard: shard}, before, now)
	}
	ids := slices.Sorted(maps.Keys(now))
	for _, id := range ids {
		add(Key{Proxy: id}, before, map[string]fleet.Beat{id: now[id]})
	}
	for _, id := range ids {
		one := map[string]fleet.Beat{id: now[id]}
		for _, shard := range shardsOf(one) {
			add(Key{id, shard}, before, one)
		}
	}
	return points
}

func shardsOf(beats map[string]fleet.Beat) []string {
	names := map[string]bool{}
	for _, b := range beats {
		for name := range b.Pools {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func point(before, now map[string]fleet.Beat, shard string, lags map[string]int64) Point {
	r := fleet.Between(before, now, shard)
	p := Point{PerSecond: float32(r.PerSecond), Errors: float32(r.Errors), P50Ms: float32(r.P50Ms), P99Ms: float32(r.P99Ms)}
	for name, lag := range lags {
		if shard == "" || shard == name {
			p.LagMs = max(p.LagMs, int32(min(lag, longestLag)))
		}
	}
	for _, b := range now {
		for name, pool := range b.Pools {
			if shard != "" && name != shard {
				continue
			}
			p.InUse, p.Limit, p.Waiting = p.InUse+int32(pool.InUse), p.Limit+int32(pool.Limit), p.Waiting+int32(pool.Waiting)
			for _, replica := range pool.Replicas {
				p.LagMs = max(p.LagMs, int32(min(replica.LagMs, longestLag)))
			}
		}
	}
	return p
}

// longestLag is told of what is further behind.
const longestLag = 1 << 30

// Line is one key's points; At are their times, which all lines of an answer share, and a
// nil point is of a time of which nothing is known.
type Line struct {
	Key
	Points []*Point
}

// Of is the lines of a proxy, or with "" of all, over a span, the sum over all shards
// first.
func (k *Keeper) Of(span int, proxy string) (at []time.Time, lines []Line) {
	k.mu.Lock()
	defer k.mu.Unlock()
	points := k.rings[span].points
	byShard := map[string][]*Point{}
	for i, s := range points {
		at = append(at, s.at)
		for key, p := range s.keys {
			if key.Proxy != proxy {
				continue
			}
			if byShard[key.Shard] == nil {
				byShard[key.Shard] = make([]*Point, len(points))
			}
			byShard[key.Shard][i] = &p
		}
	}
	for shard, list := range byShard {
		lines = append(lines, Line{Key{proxy, shard}, list})
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Shard, b.Shard) })
	return at, lines
}

// Moves is the points of each move over a span, beside the times that Of gives.
func (k *Keeper) Moves(span int) map[string][]*Move {
	k.mu.Lock()
	defer k.mu.Unlock()
	points := k.rings[span].points
	by := map[string][]*Move{}
	for i, s := range points {
		for id, m := range s.moves {
			if by[id] == nil {
				by[id] = make([]*Move, len(points))
			}
			by[id][i] = &m
		}
	}
	return by
}
