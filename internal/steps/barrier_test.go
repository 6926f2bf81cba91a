package steps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// reads returns the results of successive reads, the last one repeatedly.
func reads(list ...map[string]int64) func(context.Context) ([]Missing, error) {
	return func(context.Context) ([]Missing, error) {
		now := list[0]
		if len(list) > 1 {
			list = list[1:]
		}
		if now == nil {
			return nil, errors.New("etcd is unreachable")
		}
		return Behind(now, 7, "map version"), nil
	}
}

func TestABarrierOpensOnceNoProcessIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := 0
		b := Barrier{
			Condition: "obeys map version 7", Every: time.Second, Waiting: func([]Missing) { waits++ },
			Read: reads(map[string]int64{"a": 6, "b": 7}, map[string]int64{"a": 6, "b": 8, "c": 7}, map[string]int64{"b": 8, "c": 7}),
		}
		if err := b.Wait(t.Context()); err != nil || waits != 2 {
			t.Errorf("%v after %d waits", err, waits)
		}
	})
}

func TestABarrierNamesEachMissingProcess(t *testing.T) {
	const want = "not every process obeys map version 7: b: it obeys map version 6, because a transaction or a statement that began before is still open there, or it does not respond; " +
		"c: it has not reported a map version yet: context deadline exceeded"
	state := map[string]int64{"a": 7, "c": 0, "b": 6}
	late := reads(state)
	for name, read := range map[string]func(context.Context) ([]Missing, error){
		"between two reads": reads(state),
		"during a read": func(ctx context.Context) ([]Missing, error) {
			if late != nil {
				defer func() { late = nil }()
				return late(ctx)
			}
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := Barrier{Condition: "obeys map version 7", Every: time.Second, Read: read}.Wait(ctx)
				missing, is := errors.AsType[*MissingError](err)
				if !is || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) || len(Names(missing.Missing)) != 2 {
					t.Errorf("%v, want %s", err, want)
				}
			})
		})
	}
}

func TestAFailedReadEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Barrier{Condition: "obeys map version 7", Every: time.Second, Read: reads(map[string]int64{"a": 6}, nil)}
		if err := b.Wait(t.Context()); err == nil || err.Error() != "etcd is unreachable" {
			t.Errorf("%v", err)
		}
	})
}

func TestAChangeEndsAPauseEarly(t *testing.T) {
	changed := make(chan struct{}, 1)
	b := Barrier{
		Condition: "obeys map version 7", Every: time.Hour, Changed: changed, Waiting: func([]Missing) { changed <- struct{}{} },
		Read: reads(map[string]int64{"a": 6}, map[string]int64{"a": 7}),
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
