package etcd

import (
	"context"
	"errors"
	"log/slog"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Changes reports that keys have changed after a revision. A number from the channel means that everything up to that
// revision should be read now. Numbers never decrease. Several changes may be reported as one number, the last. A
// number may also come without a change, after a lost connection or a compaction.
//
// The channel is closed when the context ends or the client is closed. Nothing of the watch is left then. Until then it
// survives every outage. It can't distinguish an idle etcd from an unavailable one, so the caller should also read at
// intervals.
func (kv *KV) Changes(ctx context.Context, after int64) <-chan int64 {
	w := &watch{kv: kv, seen: after, out: make(chan int64, 1)}
	go w.run(ctx)
	return w.out
}

// watch is one call of Changes. Its goroutine owns the fields.
type watch struct {
	kv   *KV
	seen int64 // the last revision that needs no more watching
	out  chan int64
	backoff
}

func (w *watch) run(ctx context.Context) {
	defer close(w.out)
	for {
		err := w.stream(ctx)
		if ctx.Err() != nil || errors.Is(err, errClosed) {
			return
		}
		w.kv.client.config.Log.Warn("etcd watch lost", slog.String("prefix", w.kv.prefix), slog.Any("error", err))
		w.tell()
		w.wait(ctx)
	}
}

// stream watches until the connection, the leader or the history is lost.
func (w *watch) stream(ctx context.Context) error {
	conn, err := w.kv.client.connection(ctx)
	if err != nil {
		return err
	}
	// Without RequireLeader a partitioned server would keep the watch without sending anything.
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	responses := conn.Watch(ctx, w.kv.prefix,
		clientv3.WithPrefix(), clientv3.WithRev(w.seen+1), clientv3.WithProgressNotify())
	for r := range responses {
		if r.CompactRevision != 0 {
			w.seen = max(w.seen, r.CompactRevision-1)
		}
		if err := r.Err(); err != nil {
			w.kv.client.forgetLogin(conn, err)
			return err
		}
		w.reset()
		w.seen = max(w.seen, r.Header.Revision)
		if len(r.Events) > 0 {
			w.tell()
		}
	}
	return errors.New("the stream has ended")
}

// tell replaces a number that wasn't received yet. The watch is the only sender, so there is room afterwards.
func (w *watch) tell() {
	select {
	case <-w.out:
	default:
	}
	w.out <- w.seen
}
