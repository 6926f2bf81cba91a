package changes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"

	"locus/migrate/link"
)

// Saved is a transaction that Save wrote.
type Saved struct {
	GTID       string
	At         time.Time
	Rows       map[string]int // changed rows by schema.table
	Statements []string       // logged as text: definitions
}

// Saving selects the transactions of a server's log to save.
type Saving struct {
	Server link.Server
	Flavor link.Flavor
	// From is a GTID set, in the server's notation, after which all wanted transactions come.
	From string
	// Wanted reports whether a transaction is one of them. Complete reports whether the list has all of them.
	Wanted   func(gtid string) bool
	Complete func([]Saved) bool
}

// savePatience bounds the wait for the next of them.
const savePatience = 30 * time.Second

// ErrIncomplete means that the log lacks some transactions to be saved.
var ErrIncomplete = errors.New("the server's log does not have all of them")

// Save writes them as a file that mysqlbinlog and mariadb-binlog can read.
func Save(ctx context.Context, s Saving, w io.Writer) ([]Saved, error) {
	from, err := parseSet(s.Flavor, s.From)
	if err != nil {
		return nil, err
	}
	out := &saver{w: w, wanted: s.Wanted}
	err = s.save(ctx, out, func(syncer *replication.BinlogSyncer) (*replication.BinlogStreamer, error) {
		return syncer.StartSyncGTID(from)
	})
	if s.Flavor == link.MariaDB && errors.Is(err, ErrPurged) && len(out.list) == 0 {
		// The log of a copied server begins after the position that all origins had reached by then, and MariaDB finds a
		// position only by the last of them. So the log is read from its start.
		err = s.save(ctx, out, func(syncer *replication.BinlogSyncer) (*replication.BinlogStreamer, error) {
			return syncer.StartSync(mysql.Position{Pos: firstEvent})
		})
	}
	return out.list, err
}

// firstEvent is the offset of a log's first event. Without a file name, reading starts at the oldest log.
const firstEvent = 4

func (s *Saving) save(ctx context.Context, out *saver, start func(*replication.BinlogSyncer) (*replication.BinlogStreamer, error)) error {
	config, err := plainLog(s.Server, s.Flavor)
	if err != nil {
		return err
	}
	config.DiscardGTIDSet = true
	syncer := replication.NewBinlogSyncer(config)
	defer syncer.Close()
	streamer, err := start(syncer)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(savePatience, func() { cancel(ErrIncomplete) })
	defer late.Stop()
	for {
		e, err := streamer.GetEvent(ctx)
		if err != nil {
			return errors.Join(context.Cause(ctx), err, final(err))
		}
		was := out.in
		if err := out.take(e); err != nil {
			return err
		}
		if out.in {
			late.Reset(savePatience)
		}
		_, idle := e.Event.(*replication.HeartbeatEvent)
		if (idle || was && !out.in) && s.Complete(out.list) {
			return nil
		}
	}
}

// plainLog returns the configuration for reading a log once, from one position to another.
func plainLog(server link.Server, flavor link.Flavor) (replication.BinlogSyncerConfig, error) {
	host, port, err := splitAddr(server.Addr)
	return replication.BinlogSyncerConfig{
		ServerID: randomID(), Flavor: string(flavor),
		Host: host, Port: port, User: server.User, Password: server.Password, TLSConfig: server.TLS, Localhost: "locus",
		HeartbeatPeriod: heartbeat, ReadTimeout: readTimeout, DisableRetrySync: true,
		Logger: slog.New(slog.DiscardHandler), EventCacheCount: 16,
	}, err
}

// saver writes some of a log's transactions as another log.
type saver struct {
	w      io.Writer
	wanted func(gtid string) bool
	headed bool
	in     bool // within a wanted transaction
	list   []Saved
}

func (s *saver) take(e *replication.BinlogEvent) error {
	switch event := e.Event.(type) {
	case *replication.FormatDescriptionEvent:
		s.in = false
		if s.headed {
			return nil
		}
		s.headed = true
		return s.write(replication.BinLogFileHeader, e.RawData)
	case *replication.HeartbeatEvent: // an event outside of any transaction is between two
		return nil
	case *replication.RotateEvent, *replication.PreviousGTIDsEvent, *replication.MariadbGTIDListEvent, *replication.MariadbBinlogCheckPointEvent:
		s.in = false
		return nil
	case *replication.GTIDEvent:
		return s.beginMySQL(event, e)
	case *replication.GtidTaggedLogEvent:
		return s.beginMySQL(&event.GTIDEvent, e)
	case *replication.MariadbGTIDEvent:
		return s.begin(event.GTID.String(), e)
	}
	if !s.in {
		return nil
	}
	s.count(e)
	return s.write(e.RawData)
}

func (s *saver) beginMySQL(event *replication.GTIDEvent, e *replication.BinlogEvent) error {
	gtid, err := gtidOf(event)
	if err != nil {
		return err
	}
	return s.begin(gtid, e)
}

func (s *saver) begin(gtid string, e *replication.BinlogEvent) error {
	if s.in = s.wanted(gtid); !s.in {
		return nil
	}
	s.list = append(s.list, Saved{GTID: gtid, At: time.Unix(int64(e.Header.Timestamp), 0).UTC(), Rows: map[string]int{}})
	return s.write(e.RawData)
}

// count adds an event's contents to the transaction's counts.
func (s *saver) count(e *replication.BinlogEvent) {
	one := &s.list[len(s.list)-1]
	switch event := e.Event.(type) {
	case *replication.RowsEvent:
		rows := len(event.Rows)
		if t := e.Header.EventType; t == replication.UPDATE_ROWS_EVENTv1 || t == replication.UPDATE_ROWS_EVENTv2 || t == replication.PARTIAL_UPDATE_ROWS_EVENT {
			rows /= 2 // each row has a before and an after image
		}
		one.Rows[string(event.Table.Schema)+"."+string(event.Table.Table)] += rows
	case *replication.TransactionPayloadEvent:
		for _, inner := range event.Events {
			s.count(inner)
		}
	case *replication.QueryEvent:
		if text := string(event.Query); text != "BEGIN" && text != "COMMIT" {
			one.Statements = append(one.Statements, text)
		}
	}
}

func (s *saver) write(parts ...[]byte) error {
	for _, part := range parts {
		if _, err := s.w.Write(part); err != nil {
			return fmt.Errorf("save the log: %w", err)
		}
	}
	return nil
}
