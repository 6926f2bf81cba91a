package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Many sessions compete, with different settings, a limit, failing logins, ending contexts and a changing target. No
// connection is lent twice, none gets lost, the limit holds, and every borrower gets a connection or an error in time.
func TestNothingGetsLost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed := rapid.Uint64().Draw(r, "seed")
		limit := rapid.IntRange(1, 5).Draw(r, "limit")
		synctest.Test(t, func(t *testing.T) { stress(t, seed, limit) })
	})
}

func stress(t *testing.T, seed uint64, limit int) {
	const wait = 2 * time.Second
	p, f, logged := fakePool(t, Limits{MaxOpen: limit, MaxWaiting: 8, WaitTimeout: wait, ConnectTimeout: time.Second, MaxIdle: limit})
	var inUse sync.Map
	var sessions sync.WaitGroup
	for i := range 12 {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		sessions.Go(func() {
			for range 20 {
				session(t, p, random, &inUse)
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 99))
	for range 30 {
		<-time.After(time.Duration(random.IntN(500)) * time.Millisecond)
		switch random.IntN(5) {
		case 0:
			f.set(errDown, nil)
		case 1:
			moved := testTarget
			moved.Addr = strconv.Itoa(random.IntN(3))
			p.SetTarget(moved)
		case 2:
			p.Sweep(time.Now())
		default:
			f.set(nil, nil)
		}
	}
	f.set(nil, nil)
	sessions.Wait()
	if s := p.Stats(); s.Lent != 0 || s.Waiting != 0 || s.Dialing != 0 || s.Open > limit {
		t.Errorf("at the end: %+v", s)
	}
	if strings.Contains(logged.String(), "level=ERROR") {
		t.Errorf("logged %s", logged)
	}
}

func session(t *testing.T, p *Pool, random *rand.Rand, inUse *sync.Map) {
	want := []*Settings{Default, Default.WithDatabase("shop"), Default.WithDatabase("shop").With("@x", "1"), Default.WithDatabase("nosuch")}[random.IntN(4)]
	prof := Profile(random.IntN(2))
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(4000))*time.Millisecond)
	defer cancel()
	began := time.Now()
	c, err := p.Borrow(ctx, want, prof)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("borrow took %v", took)
	}
	if err != nil {
		_, refused := errors.AsType[*ServerError](err)
		if !refused && !NotSent(err) && ctx.Err() == nil {
			t.Errorf("borrow: %v", err)
		}
		return
	}
	if _, twice := inUse.LoadOrStore(c, true); twice {
		t.Errorf("connection %d is lent twice", c.threadID)
	}
	if c.Settings() != want || c.Profile() != prof {
		t.Errorf("connection %d carries %v of profile %v, want %v, %v", c.threadID, c.Settings(), c.Profile(), want, prof)
	}
	if n := p.Stats(); n.Open+n.Dialing > n.Limit {
		t.Errorf("beyond the limit: %+v", n)
	}
	<-time.After(time.Duration(random.IntN(100)) * time.Millisecond)
	inUse.Delete(c)
	if random.IntN(10) == 0 {
		p.Discard(c)
	} else {
		p.Return(c)
	}
}
