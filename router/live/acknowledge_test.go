package live_test

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// told is an acknowledgement that a test has received.
type told struct {
	text     string
	revision int64
}

func TestEveryStateInForceIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		var got []told
		c.Acknowledge = func(_ context.Context, st *state, revision int64) error {
			got = append(got, told{st.text, revision})
			return nil
		}
		l := running(t, c)
		s.set("b")
		synctest.Wait()
		s.set("b") // no new state
		s.set("bad")
		synctest.Wait()
		time.Sleep(time.Hour) // virtual
		synctest.Wait()
		if want := []told{{"a", 10}, {"b", 11}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%v", got)
		}
		if n := l.Status().Acknowledged; n != 11 {
			t.Errorf("acknowledged %d", n)
		}
	})
}

// While one acknowledgement waits, changes still come into force, and the next
// acknowledgement is of the newest.
func TestAWaitingAcknowledgementHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		drained := make(chan struct{})
		var got []told
		c.Acknowledge = func(ctx context.Context, st *state, revision int64) error {
			select {
			case <-drained:
			case <-ctx.Done():
				return ctx.Err()
			}
			got = append(got, told{st.text, revision})
			return nil
		}
		l := running(t, c)
		for _, text := range []string{"b", "c", "d"} {
			s.set(text)
			expect(t, l, text)
		}
		if l.Status().Acknowledged != 0 {
			t.Error("acknowledged too early")
		}
		close(drained)
		synctest.Wait()
		if want := []told{{"d", 13}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%v", got)
		}
	})
}

func TestAFailedAcknowledgementIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		var works atomic.Bool
		var calls atomic.Int32
		c.Acknowledge = func(context.Context, *state, int64) error {
			calls.Add(1)
			if !works.Load() {
				return errAway
			}
			return nil
		}
		l := running(t, c)
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if n := calls.Load(); n < 5 || n > 20 || l.Status().Acknowledged != 0 {
			t.Errorf("%d calls, acknowledged %d", n, l.Status().Acknowledged)
		}
		works.Store(true)
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		before := calls.Load()
		time.Sleep(time.Hour) // virtual
		synctest.Wait()
		if l.Status().Acknowledged != 10 || calls.Load() != before {
			t.Errorf("acknowledged %d, then %d calls more", l.Status().Acknowledged, calls.Load()-before)
		}
	})
}

func TestRunEndsWhileAnAcknowledgementWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := configOf(newSource("a"))
		ended := false
		c.Acknowledge = func(ctx context.Context, _ *state, _ int64) error {
			<-ctx.Done()
			ended = true
			return errors.New("too late")
		}
		t.Cleanup(func() {
			if !ended {
				t.Error("Run didn't wait for it")
			}
		})
		running(t, c)
	})
}
