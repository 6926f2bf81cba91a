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

// Saved is a transaction that Save has written.
type Saved struct {
	GTID       string
	At         time.Time
	Rows       map[string]int // changed, by schema.table
	Statements []string       // that are logged as such: definitions
}

// Saving says which transactions of a server's log are saved.
type Saving struct {
	Server link.Server
	Flavor link.Flavor
	// From is a set of GTIDs behind which all of them stand, as the server itself writes it.
	From string
	// Wanted tells one of them, and Complete whether these are all.
	Wanted   func(gtid string) bool
	Complete func([]Saved) bool
}

// savePatience is how long the next of them may be waited for.
const savePatience = 30 * time.Second

// ErrIncomplete says that the log does not have all transactions that are to be saved.
var ErrIncomplete = errors.New("the server's log does not have all of them")

// Save writes them as a file that mysqlbinlog and mariadb-binlog read.
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
		// The log of a copy begins behind the position that all origins have reached by then, and a position is found by
		// the last of them alone: what its whole log has tells.
		err = s.save(ctx, out, func(syncer *replication.BinlogSyncer) (*replication.BinlogStreamer, error) {
			return syncer.StartSync(mysql.Position{Pos: firstEvent})
		})
	}
	return out.list, err
}

// firstEvent is where the events of a log begin; one without a name is the first there is.
const firstEvent = 4

func (s *Saving) save(ctx context.Context, out *saver, start func(*replication.BinlogSyncer) (*replication.BinlogStreamer, error)) error {
	host, port, err := splitAddr(s.Server.Addr)
	if err != nil {
		return err
	}
	syncer := replication.NewBinlogSyncer(replication.BinlogSyncerConfig{
		ServerID: randomID(), Flavor: string(s.Flavor),
		Host: host, Port: port, User: s.Server.User, Password: s.Server.Password, TLSConfig: s.Server.TLS, Localhost: "locus",
		HeartbeatPeriod: heartbeat, ReadTimeout: readTimeout, DisableRetrySync: true,
		Logger: slog.New(slog.DiscardHandler), DiscardGTIDSet: true, EventCacheCount: 16,
	})
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

// saver writes a log of some of another one's transactions.
type saver struct {
	w      io.Writer
	wanted func(gtid string) bool
	headed bool
	in     bool // a transaction that is wanted
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
	case *replication.HeartbeatEvent: // it is between two transactions, if it is none of one
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

// count adds what an event says of the transaction.
func (s *saver) count(e *replication.BinlogEvent) {
	one := &s.list[len(s.list)-1]
	switch event := e.Event.(type) {
	case *replication.RowsEvent:
		rows := len(event.Rows)
		if t := e.Header.EventType; t == replication.UPDATE_ROWS_EVENTv1 || t == replication.UPDATE_ROWS_EVENTv2 || t == replication.PARTIAL_UPDATE_ROWS_EVENT {
			rows /= 2 // each is there as it was, and as it is
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
