package migrate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locus/internal/steps"
)

// proxies is a store with only the list of proxies. It returns each of the given results once, and then the
// last one repeatedly.
type proxies struct {
	Store
	answers []map[string]int64
}

func (p *proxies) Proxies(context.Context) (map[string]int64, error) {
	now := p.answers[0]
	if len(p.answers) > 1 {
		p.answers = p.answers[1:]
	}
	if now == nil {
		return nil, errors.New("etcd is away")
	}
	return now, nil
}

func TestAVersionIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &proxies{answers: []map[string]int64{{"a": 6, "b": 7}, {"a": 6, "b": 8, "c": 7}, {"b": 8, "c": 7}}}
		report := newReporter(store, "mover", "split-1")
		got, err := fleet{store, report}.acknowledged(t.Context(), 7, nil)
		if err != nil || len(got) != 2 || got["b"] != 8 || got["c"] != 7 {
			t.Errorf("%v, %v: want those that live once nobody is behind", got, err)
		}
	})
}

func TestAProxyThatDoesNotAcknowledgeIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &proxies{answers: []map[string]int64{{"a": 7, "b": 6}}}
		report := newReporter(store, "mover", "split-1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() {
			time.Sleep(fleetPatience + time.Second) // virtual: of the bubble's clock
			if r := report.now(); !strings.Contains(r.Trouble, "waiting until every process obeys map version 7: b: it obeys map version 6") {
				t.Errorf("the report says %q", r.Trouble)
			}
		}()
		_, err := fleet{store, report}.acknowledged(ctx, 7, nil)
		missing, is := errors.AsType[*steps.MissingError](err)
		if !is || len(missing.Missing) != 1 || missing.Missing[0].Process != "b" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if r := report.now(); r.Trouble != "" {
			t.Errorf("the trouble is over and still reported: %q", r.Trouble)
		}
	})
}

// slowStore answers once; the next answer takes longer than the time limit.
type slowStore struct {
	proxies
	reads int
}

func (s *slowStore) Proxies(ctx context.Context) (map[string]int64, error) {
	if s.reads++; s.reads == 1 {
		return s.proxies.Proxies(ctx)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A time limit that ends while etcd is read still names the proxy that does not obey.
func TestAProxyIsNamedThoughTheReadIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{proxies: proxies{answers: []map[string]int64{{"a": 7, "b": 6}}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := fleet{store, newReporter(store, "mover", "split-1")}.acknowledged(ctx, 7, nil)
		missing, is := errors.AsType[*steps.MissingError](err)
		if !is || len(missing.Missing) != 1 || missing.Missing[0].Process != "b" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func TestAStoreThatIsAwayEndsTheWait(t *testing.T) {
	store := &proxies{answers: []map[string]int64{nil}}
	if _, err := (fleet{store, newReporter(store, "mover", "split-1")}).acknowledged(t.Context(), 7, nil); err == nil {
		t.Error("acknowledged by nobody")
	}
}
