package changes

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"

	"locus/migrate/link"
)

const (
	heartbeat   = 200 * time.Millisecond // interval at which an idle server reports its position
	readTimeout = 10 * time.Second       // time without a heartbeat after which a server counts as lost
	readAhead   = 16 << 20               // bytes of events
)

// reader is one connection to the log. It owns the goroutines that fill the queue.
type reader struct {
	syncer *replication.BinlogSyncer
	queue  *queue
	cancel context.CancelFunc
	done   chan struct{}
}

// open starts to read the log after the set of GTIDs.
func open(s link.Server, flavor link.Flavor, from mysql.GTIDSet, decode func(*replication.RowsEvent, []byte) error) (*reader, error) {
	host, port, err := splitAddr(s.Addr)
	if err != nil {
		return nil, err
	}
	q := newQueue(readAhead)
	syncer := replication.NewBinlogSyncer(replication.BinlogSyncerConfig{
		ServerID: randomID(), Flavor: string(flavor),
		Host: host, Port: port, User: s.User, Password: s.Password, TLSConfig: s.TLS, Localhost: "locus",
		TimestampStringLocation: time.UTC, RenderJSONAsMySQLText: true,
		HeartbeatPeriod: heartbeat, ReadTimeout: readTimeout, DisableRetrySync: true,
		Logger: slog.New(slog.DiscardHandler), DiscardGTIDSet: true, EventCacheCount: 1,
		RowsEventDecodeFunc: decode, SynchronousEventHandler: q,
	})
	streamer, err := syncer.StartSyncGTID(from.Clone())
	if err != nil {
		syncer.Close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &reader{syncer: syncer, queue: q, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		_, err := streamer.GetEvent(ctx) // events go to the queue; this returns the error at the end
		q.end(err)
	}()
	return r, nil
}

func (r *reader) close() {
	close(r.queue.closed)
	r.syncer.Close()
	r.cancel()
	<-r.done
}

func splitAddr(addr string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(n), err
}

// randomID returns the feed's server ID as a replica, which must be unique. Servers' own IDs are rarely in the upper
// half.
func randomID() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint32(b[:]) | 1<<31
}

// final returns errors of the log that no new connection resolves.
func final(err error) error {
	var refused *mysql.MyError
	if errors.As(err, &refused) && refused.Code == mysql.ER_MASTER_FATAL_ERROR_READING_BINLOG {
		return fmt.Errorf("%w: %w", ErrPurged, err)
	}
	var undecoded *replication.EventError
	if errors.As(err, &undecoded) {
		return fmt.Errorf("decode the log at %d: %s", undecoded.Header.LogPos, undecoded.Err)
	}
	if errors.Is(err, ErrClosed) || errors.As(err, new(*LostError)) {
		return err
	}
	return nil
}
