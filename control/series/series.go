package series

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"locus/control/fleet"
)

// Span is a period and the interval of its points.
type Span struct {
	Name string
	Step time.Duration
	Keep int // number of points
}

// Spans lists the spans kept.
var Spans = []Span{
	{"15m", 5 * time.Second, 180},
	{"1h", 20 * time.Second, 180},
	{"24h", 8 * time.Minute, 180},
}

// mostKeys bounds a point. Above it, single shards of single proxies are omitted, and then proxies. With the three spans
// that is about 22 MB.
const mostKeys = 400

// Key identifies the figures' subject.
type Key struct {
	Proxy string // empty for all
	Shard string // empty for all
}

// Point is the figures between two queries.
type Point struct {
	PerSecond, Errors, P50Ms, P99Ms float32
	InUse, Limit, Waiting           int32
	LagMs                           int32
}

// Move is the state of a move at one time.
type Move struct {
	AtTarget                float32 // percentage of its genes
	Rows                    float32 // per second
	LagMs                   int32
	BeforeP99Ms, SinceP99Ms float32 // 0 if no statement was counted
	BeforeFailed            float32 // percentage of the statements
	SinceFailed             float32
}

// mostMoves bounds the moves of a point.
const mostMoves = 32

// Keeper keeps the figures. It is safe for concurrent use.
type Keeper struct {
	mu    sync.Mutex // guards the fields below
	rings []ring     // one ring for each of Spans
}

// ring holds the points of one span, oldest first.
type ring struct {
	last   map[string]fleet.Beat // start of the next point
	lastAt time.Time
	points []sample
}

type sample struct {
	at    time.Time
	keys  map[Key]Point
	moves map[string]Move
}

// New returns an empty Keeper.
func New() *Keeper { return &Keeper{rings: make([]ring, len(Spans))} }

// slack is how much earlier than a full step a query may come, since queries aren't exact to the millisecond.
const slack = 500 * time.Millisecond

// Look is the result of one query: the beats of all proxies, the moves' lag by shard in milliseconds, and the moves
// themselves.
type Look struct {
	Beats map[string]fleet.Beat
	Lags  map[string]int64
	Moves map[string]Move
}

// Add adds a query's result. Results between two steps are ignored.
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

// pointsOf computes all figures between two queries: of the cluster, of shards, of proxies, and of shards of proxies as
// far as there is room.
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

// longestLag replaces larger lags.
const longestLag = 1 << 30

// Line is one key's points. At, shared by all lines of an answer, holds their times. A nil point means that nothing is
// known of that time.
type Line struct {
	Key
	Points []*Point
}

// Of returns the lines of a proxy over a span, or of all proxies for "". The sum over all shards comes first.
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

// Moves returns the points of each move over a span, for the times that Of returns.
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
