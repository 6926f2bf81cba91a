package changes

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/replication"

	"locus/migrate/table"
)

// ownSchema is the schema of package checkpoint. A write to it marks a move's transaction.
const ownSchema = "locus"

// mariaDBPrepared is MariaDB's flag of a GTID whose transaction is a branch.
const mariaDBPrepared = 64

// decode is called by go-mysql. It skips rows of tables that aren't watched.
func (f *Feed) decode(e *replication.RowsEvent, data []byte) error {
	at, err := e.DecodeHeader(data)
	if err != nil {
		return err
	}
	if f.watched[tableName(e)] == nil {
		return nil
	}
	return e.DecodeData(at, data)
}

func tableName(e *replication.RowsEvent) string {
	return string(e.Table.Schema) + "." + string(e.Table.Table)
}

// read handles one event of the log.
func (f *Feed) read(e *replication.BinlogEvent) error {
	switch v := e.Event.(type) {
	case *replication.RotateEvent:
		f.mark.file, f.mark.at = string(v.NextLogName), v.Position
	case *replication.HeartbeatEvent:
		// It shows the position of a server that has nothing more to send.
		if f.tx.gtid == "" && e.Header.LogPos > 0 {
			f.mark.at = max(f.mark.at, uint64(e.Header.LogPos))
		}
	case *replication.GTIDEvent:
		return f.beginMySQL(v)
	case *replication.GtidTaggedLogEvent:
		return f.beginMySQL(&v.GTIDEvent)
	case *replication.MariadbGTIDEvent:
		if err := f.begin(v.GTID.String()); err != nil {
			return err
		}
		f.tx.open = !v.IsStandalone()
		if v.Flags&mariaDBPrepared != 0 {
			f.beginBranch("named by its XA PREPARE")
		}
	case *replication.QueryEvent:
		return f.query(e.Header, v)
	case *replication.XIDEvent:
		return f.end(e.Header, "")
	case *replication.RowsEvent:
		return f.rows(e.Header, v)
	case *replication.TransactionPayloadEvent:
		for _, inner := range v.Events {
			if err := f.read(inner); err != nil {
				return err
			}
		}
	case *replication.GenericEvent:
		if e.Header.EventType == replication.XA_PREPARE_LOG_EVENT {
			return f.prepared(e.Header, v.Data)
		}
	}
	return nil
}

func (f *Feed) query(h *replication.EventHeader, e *replication.QueryEvent) error {
	s := read(string(e.Schema), string(e.Query))
	switch s.word(0) {
	case "BEGIN":
		f.tx.open = true
		return nil
	case "COMMIT", "ROLLBACK":
		if s.word(1) == "TO" {
			return nil
		}
		return f.end(h, "")
	case "SAVEPOINT", "RELEASE":
		return nil
	case "XA":
		return f.xa(h, s)
	}
	if kind := s.kind(); kind != harmless {
		if name := s.mentions(f.watched); name != "" && !f.tx.old {
			if kind == schema {
				return &SchemaError{Table: name, Statement: s.text}
			}
			return &RowsError{Table: name, What: fmt.Sprintf("it has the statement %.200q instead of its rows", s.text)}
		}
	}
	if f.tx.open {
		return nil
	}
	return f.end(h, "")
}

func (f *Feed) xa(h *replication.EventHeader, s statement) error {
	switch s.word(1) {
	case "START", "BEGIN":
		f.beginBranch(s.xid())
	case "COMMIT":
		for _, e := range f.held.open[s.xid()].rows {
			f.give(e)
		}
		return f.end(h, s.xid())
	case "ROLLBACK":
		return f.end(h, s.xid())
	}
	return nil
}

// prepared ends the part of a branch before its decision, or the whole of a branch that was committed at once.
func (f *Feed) prepared(h *replication.EventHeader, data []byte) error {
	onePhase, xid, err := parsePrepared(data)
	if err != nil {
		return err
	}
	f.tx.branch = xid
	if onePhase {
		for _, e := range f.tx.rows {
			f.give(e)
		}
	} else if err := f.held.hold(f.tx); err != nil {
		return err
	}
	return f.end(h, "")
}

// parsePrepared parses an XA_PREPARE_LOG_EVENT. It returns the branch in the form that statements in the log
// use: X'67',X'62',1.
func parsePrepared(data []byte) (onePhase bool, xid string, err error) {
	const head = 1 + 4 + 4 + 4
	if len(data) < head {
		return false, "", errors.New("the log has an XA PREPARE that is cut off")
	}
	format := binary.LittleEndian.Uint32(data[1:])
	global, qualifier := binary.LittleEndian.Uint32(data[5:]), binary.LittleEndian.Uint32(data[9:])
	if uint64(len(data)) < head+uint64(global)+uint64(qualifier) {
		return false, "", errors.New("the log has an XA PREPARE that is cut off")
	}
	g := data[head : head+global]
	q := data[head+global : head+global+qualifier]
	return data[0] != 0, fmt.Sprintf("X'%s',X'%s',%d", hex.EncodeToString(g), hex.EncodeToString(q), format), nil
}

func (f *Feed) rows(h *replication.EventHeader, e *replication.RowsEvent) error {
	if string(e.Table.Schema) == ownSchema && strings.HasPrefix(string(e.Table.Table), "move_") {
		f.tx.echo = true
	}
	t := f.watched[tableName(e)]
	if t == nil || f.tx.echo || (f.tx.old && f.tx.branch == "") {
		return nil
	}
	changes, err := changesOf(t, e)
	if err != nil {
		return err
	}
	event := Event{Changes: changes}
	if f.tx.branch == "" {
		f.give(event)
		return nil
	}
	f.tx.rows = append(f.tx.rows, event)
	f.tx.bytes += int(h.EventSize)
	if f.tx.bytes > heldLimit {
		return f.held.hold(f.tx) // hold returns why the transaction can't be held
	}
	return nil
}

func changesOf(t *table.Table, e *replication.RowsEvent) ([]Change, error) {
	if int(e.ColumnCount) != len(t.Columns) {
		return nil, &SchemaError{Table: t.Name.String(), Statement: fmt.Sprintf("it has %d columns and had %d", e.ColumnCount, len(t.Columns))}
	}
	rows := make([]table.Row, len(e.Rows))
	for i, values := range e.Rows {
		for _, c := range e.SkippedColumns[i] {
			if !t.Computes(c) {
				return nil, &RowsError{Table: t.Name.String(), What: "a row is without its column " + t.Columns[c].Name + " (binlog_row_image is not FULL)"}
			}
		}
		row := make(table.Row, len(values))
		for c, v := range values {
			if _, partial := v.(*replication.JsonDiff); partial {
				return nil, &RowsError{Table: t.Name.String(), What: "the log has only the changed part of a JSON value: a session that is not a proxy's had binlog_row_value_options = PARTIAL_JSON"}
			}
			var err error
			if row[c], err = valueOf(&t.Columns[c], v); err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
		rows[i] = row
	}
	changes, err := pair(t, e, rows)
	for i := range changes {
		changes[i].Cascades = e.Flags&(uncheckedRows|loggedCascades) == 0
	}
	return changes, err
}

// Flags of an event of rows.
const (
	// uncheckedRows: the session had foreign_key_checks = 0, so nothing cascades.
	uncheckedRows = 0x02
	// loggedCascades is set if the foreign keys are implemented by MySQL's SQL layer, whose cascades are in the log
	// (innodb_native_foreign_keys = OFF).
	loggedCascades = 0x10
)

func pair(t *table.Table, e *replication.RowsEvent, rows []table.Row) ([]Change, error) {
	var changes []Change
	switch e.Type() {
	case replication.EnumRowsEventTypeInsert:
		for _, r := range rows {
			changes = append(changes, Change{Table: t, After: r})
		}
	case replication.EnumRowsEventTypeDelete:
		for _, r := range rows {
			changes = append(changes, Change{Table: t, Before: r})
		}
	default: // an update; partial ones were refused above unless they changed no JSON
		for i := 0; i+1 < len(rows); i += 2 {
			changes = append(changes, Change{Table: t, Before: rows[i], After: rows[i+1]})
		}
	}
	return changes, nil
}
