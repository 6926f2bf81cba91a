package changes

import (
	"encoding/base64"
	"errors"
	"reflect"
	"testing"

	"github.com/go-mysql-org/go-mysql/replication"
)

// logged is an event of a log that is read undecoded.
func logged(kind replication.EventType, data []byte) *replication.BinlogEvent {
	return &replication.BinlogEvent{
		RawData: append([]byte{byte(kind)}, data...),
		Header:  &replication.EventHeader{EventType: kind},
		Event:   &replication.GenericEvent{Data: data},
	}
}

func TestWhatABranchHasChangedIsDoneAgain(t *testing.T) {
	begin := func(flags byte) *replication.BinlogEvent {
		data := make([]byte, 13)
		data[gtidFlags] = flags
		return logged(replication.MARIADB_GTID_EVENT, data)
	}
	rows := func(kind replication.EventType, of byte, last bool) *replication.BinlogEvent {
		data := []byte{of, 0, 0, 0, 0, 0, 0, 0}
		if last {
			data[rowsFlags] = flagStatementEnd
		}
		return logged(kind, data)
	}
	table := func(of byte) *replication.BinlogEvent { return logged(replication.TABLE_MAP_EVENT, []byte{of}) }
	text := func(s string) *replication.BinlogEvent { return logged(replication.QUERY_EVENT, said("shop", s)) }
	annotation := logged(replication.MARIADB_ANNOTATE_ROWS_EVENT, []byte("UPDATE"))
	head := &replication.BinlogEvent{RawData: []byte("head"), Header: &replication.EventHeader{}, Event: &replication.FormatDescriptionEvent{}}
	encoded := func(events ...*replication.BinlogEvent) string {
		text := "BINLOG '"
		for i, e := range events {
			if i > 0 {
				text += "\n"
			}
			text += base64.StdEncoding.EncodeToString(e.RawData)
		}
		return text + "'"
	}
	const update, write = replication.UPDATE_ROWS_EVENTv1, replication.WRITE_ROWS_EVENTv1
	end, prepared, others := text("XA END X'67',X'62',1"), logged(replication.XA_PREPARE_LOG_EVENT, prepare("g", "b", false)), logged(replication.XA_PREPARE_LOG_EVENT, prepare("h", "", false))
	for name, c := range map[string]struct {
		events []*replication.BinlogEvent
		want   []string
		found  bool
		err    error
	}{
		"two statements": {
			events: []*replication.BinlogEvent{head, begin(flagPreparedXA), annotation, table(1), rows(update, 1, false), rows(update, 1, true), annotation, table(2), rows(write, 2, true), end, prepared},
			want:   []string{encoded(table(1), rows(update, 1, false), rows(update, 1, true)), encoded(table(2), rows(write, 2, true))}, found: true,
		},
		"after another branch, and a transaction": {
			events: []*replication.BinlogEvent{head, begin(flagPreparedXA), table(1), rows(update, 1, true), end, others, begin(0), table(2), rows(write, 2, true), begin(flagPreparedXA), table(3), rows(update, 3, true), end, prepared},
			want:   []string{encoded(table(3), rows(update, 3, true))}, found: true,
		},
		"not there":     {events: []*replication.BinlogEvent{head, begin(flagPreparedXA), table(1), rows(update, 1, true), end, others}},
		"of no rows":    {events: []*replication.BinlogEvent{head, begin(flagPreparedXA), end, prepared}, found: true},
		"as statements": {events: []*replication.BinlogEvent{head, begin(flagPreparedXA), text("UPDATE t SET n = 1"), end, prepared}, found: true, err: errStatements},
		"another one as statements": {
			events: []*replication.BinlogEvent{head, begin(flagPreparedXA), text("UPDATE t SET n = 1"), end, others, begin(flagPreparedXA), table(3), rows(update, 3, true), end, prepared},
			want:   []string{encoded(table(3), rows(update, 3, true))}, found: true,
		},
		"too large": {events: []*replication.BinlogEvent{head, begin(flagPreparedXA), table(1), logged(update, make([]byte, heldLimit)), end, prepared}, found: true, err: errTooLarge},
	} {
		r := replay{xid: "X'67',X'62',1"}
		var err error
		for _, e := range c.events {
			var enough bool
			if enough, err = r.take(e); enough || err != nil {
				break
			}
		}
		if !errors.Is(err, c.err) || r.found != c.found || c.err == nil && c.found && (!reflect.DeepEqual(r.statements, c.want) || string(r.head) != "head") {
			t.Errorf("%s: %v, %v, %q, want %q", name, err, r.found, r.statements, c.want)
		}
	}
}
