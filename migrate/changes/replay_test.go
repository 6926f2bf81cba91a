package changes

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"reflect"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/replication"
)

// logged returns an undecoded event of a log.
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

// BINLOG takes no compressed rows: they are as they would be in a log without log_bin_compress, with their own length and checksum.
func TestCompressedRowsArePlain(t *testing.T) {
	rows := bytes.Repeat([]byte("row"), 200)
	var deflated bytes.Buffer
	w := zlib.NewWriter(&deflated)
	_, _ = w.Write(rows)
	_ = w.Close()
	packed := append([]byte{0x82, byte(len(rows) >> 8), byte(len(rows))}, deflated.Bytes()...) // compressed by zlib; two bytes contain the length
	for kind, c := range map[replication.EventType]struct {
		bitmaps []byte
		want    replication.EventType
	}{
		replication.MARIADB_WRITE_ROWS_COMPRESSED_EVENT_V1:  {[]byte{0xff, 0xfe}, replication.WRITE_ROWS_EVENTv1},
		replication.MARIADB_UPDATE_ROWS_COMPRESSED_EVENT_V1: {[]byte{0xff, 0xfe, 0xff, 0xfe}, replication.UPDATE_ROWS_EVENTv1},
		replication.MARIADB_DELETE_ROWS_COMPRESSED_EVENT_V1: {[]byte{0xff, 0xfe}, replication.DELETE_ROWS_EVENTv1},
	} {
		body := append([]byte{1, 0, 0, 0, 0, 0, flagStatementEnd, 0, 9}, c.bitmaps...) // of nine columns
		head := make([]byte, replication.EventHeaderSize)
		head[4] = byte(kind)
		data := append(slices.Clone(body), packed...)
		for _, sums := range []bool{false, true} {
			r := replay{sums: sums}
			got, err := r.plain(kind, append(slices.Clone(head), data...), data)
			if err != nil {
				t.Fatal(kind, err)
			}
			want := append(slices.Concat(slices.Clone(head), body), rows...)
			want[4] = byte(c.want)
			size := len(want)
			if sums {
				size += 4
			}
			binary.LittleEndian.PutUint32(want[9:], uint32(size))
			if sums {
				want = binary.LittleEndian.AppendUint32(want, crc32.ChecksumIEEE(want))
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%v, with sums %v: %d bytes, want %d", kind, sums, len(got), len(want))
			}
		}
		for _, short := range [][]byte{data[:8], data[:9], body} {
			if _, err := (&replay{}).plain(kind, head, short); !errors.Is(err, errCutOff) {
				t.Errorf("%v of %d bytes: %v", kind, len(short), err)
			}
		}
	}
}
