package histories

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/cluster"
)

func (w *world) routes(t *testing.T) (revision int64, m *router.Map) {
	t.Helper()
	text, revision, err := w.KV.Get(t.Context(), cluster.Prefix+cluster.MapKey)
	if err != nil {
		t.Fatal(err)
	}
	if m, _, err = router.Decode(text); err != nil {
		t.Fatal(err)
	}
	return revision, m
}

// fences are the times during which genes were held.
type fences struct {
	running sync.WaitGroup
	spans   []fence
}

type fence struct {
	genes    gene.Set
	from, to int64
}

// watchFences follows the route map.
func (w *world) watchFences(ctx context.Context, r *record) *fences {
	f := &fences{}
	f.running.Go(func() {
		for range w.KV.Under(cluster.Prefix+cluster.MapKey).Changes(ctx, 0) {
			text, _, err := w.KV.Get(ctx, cluster.Prefix+cluster.MapKey)
			if err != nil {
				continue
			}
			m, _, err := router.Decode(text)
			if err != nil {
				continue
			}
			now := r.now()
			if last := len(f.spans) - 1; last >= 0 && f.spans[last].to == 0 {
				f.spans[last].to = now
			}
			if !m.Held().Empty() {
				f.spans = append(f.spans, fence{genes: m.Held(), from: now})
			}
		}
	})
	return f
}

// waits returns how long statements on held genes took. hot means that nearly all of them are of one owner.
func (f *fences) waits(r *record, hot bool) []time.Duration {
	var waits []time.Duration
	for _, s := range r.holding {
		if s.uid < 0 {
			continue
		}
		owner := s.uid
		if hot {
			owner = hotOwner
		}
		for _, f := range f.spans {
			if s.call < f.to && f.from < s.ends && f.genes.Contains(gene.OfInt(owner, gene.W16)) {
				waits = append(waits, time.Duration(s.ends-s.call))
				break
			}
		}
	}
	slices.Sort(waits)
	return waits
}

func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	return of[min(len(of)-1, int(q*float64(len(of))))].Round(time.Microsecond * 100)
}
