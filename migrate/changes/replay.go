package changes

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/replication"

	"locus/migrate/link"
)

// Replay searches a MariaDB server's binary log, from the last of its files backwards, for the changes of a
// branch. It returns the BINLOG statements that repeat them, in order (https://mariadb.com/kb/en/binlog/). The
// first statement only describes the file. It must be executed outside of transactions. If there are no
// statements, the log does not contain the branch. Branches have the form described at [LastWords].
func Replay(ctx context.Context, server link.Server, files []LogFile, xid string) (statements []string, err error) {
	for i := len(files) - 1; i >= 0; i-- {
		r := replay{xid: xid}
		if err := readFile(ctx, server, files[i], r.take); err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].Name, err)
		}
		if r.found {
			return append([]string{binlogStatement(r.head)}, r.statements...), nil
		}
	}
	return nil, nil
}

// replay keeps the changes of the branch that is being read.
type replay struct {
	xid  string
	head []byte // the event that describes the file
	sums bool   // each event ends with its checksum

	in         bool // within a branch
	group      []string
	statements []string
	bytes      int
	err        error // why this branch can't be done again
	found      bool
}

const (
	// gtidFlags is the offset of the flags in a MariaDB GTID event, and flagPreparedXA the flag of an event
	// that begins a branch.
	gtidFlags      = 8 + 4
	flagPreparedXA = 1 << 6
	// rowsFlags is the offset of the flags in a rows event, and flagStatementEnd the flag of the last rows
	// event of a statement.
	rowsFlags        = 6
	flagStatementEnd = 1
)

func (r *replay) take(e *replication.BinlogEvent) (enough bool, err error) {
	switch v := e.Event.(type) {
	case *replication.FormatDescriptionEvent:
		r.head, r.sums = e.RawData, v.ChecksumAlgorithm == replication.BINLOG_CHECKSUM_ALG_CRC32
	case *replication.GenericEvent:
		return r.read(e, v.Data)
	}
	return false, nil
}

func (r *replay) read(e *replication.BinlogEvent, data []byte) (enough bool, err error) {
	kind := e.Header.EventType
	if kind == replication.MARIADB_GTID_EVENT {
		*r = replay{xid: r.xid, head: r.head, sums: r.sums, in: len(data) > gtidFlags && data[gtidFlags]&flagPreparedXA != 0}
		return false, nil
	}
	if !r.in {
		return false, nil
	}
	switch {
	case kind == replication.XA_PREPARE_LOG_EVENT:
		r.in = false
		_, xid, err := parsePrepared(data)
		if err != nil || xid != r.xid {
			return false, err
		}
		r.found = true
		return true, r.err
	case kind == replication.TABLE_MAP_EVENT || changesRows(kind):
		event, err := r.plain(kind, e.RawData, data)
		if err != nil {
			return false, err
		}
		r.keep(event)
		if kind != replication.TABLE_MAP_EVENT && len(data) >= rowsFlags+2 && binary.LittleEndian.Uint16(data[rowsFlags:])&flagStatementEnd != 0 {
			r.statements = append(r.statements, "BINLOG '"+strings.Join(r.group, "\n")+"'")
			r.group = nil
		}
	case kind == replication.MARIADB_ANNOTATE_ROWS_EVENT: // the text of the event that follows
	case !ends(kind, data):
		r.err = errStatements
	}
	return false, nil
}

// errStatements means that a log contains a branch not only as row events.
var errStatements = errors.New("the log has changes of the branch as statements: binlog_format = ROW is needed, without log_bin_compress for statements that are short")

// ends reports whether an event is an XA END.
func ends(kind replication.EventType, data []byte) bool {
	var q replication.QueryEvent
	if kind != replication.QUERY_EVENT || q.Decode(data) != nil {
		return false
	}
	s := read(string(q.Schema), string(q.Query))
	return s.word(0) == "XA" && s.word(1) == "END"
}

func changesRows(kind replication.EventType) bool {
	switch kind {
	case replication.WRITE_ROWS_EVENTv1, replication.UPDATE_ROWS_EVENTv1, replication.DELETE_ROWS_EVENTv1,
		replication.WRITE_ROWS_EVENTv2, replication.UPDATE_ROWS_EVENTv2, replication.DELETE_ROWS_EVENTv2,
		replication.MARIADB_WRITE_ROWS_COMPRESSED_EVENT_V1, replication.MARIADB_UPDATE_ROWS_COMPRESSED_EVENT_V1, replication.MARIADB_DELETE_ROWS_COMPRESSED_EVENT_V1:
		return true
	default:
		return false
	}
}

// compressed maps the types of events that log_bin_compress generates to the types of the uncompressed events, because BINLOG
// accepts only the latter (error 1730).
var compressed = map[replication.EventType]replication.EventType{
	replication.MARIADB_WRITE_ROWS_COMPRESSED_EVENT_V1:  replication.WRITE_ROWS_EVENTv1,
	replication.MARIADB_UPDATE_ROWS_COMPRESSED_EVENT_V1: replication.UPDATE_ROWS_EVENTv1,
	replication.MARIADB_DELETE_ROWS_COMPRESSED_EVENT_V1: replication.DELETE_ROWS_EVENTv1,
}

// plain returns an event in the form that it would have without log_bin_compress. Only the rows are compressed,
// after the description of their columns.
func (r *replay) plain(kind replication.EventType, event, data []byte) ([]byte, error) {
	as, is := compressed[kind]
	if !is {
		return event, nil
	}
	const columns = rowsFlags + 2
	if len(data) <= columns {
		return nil, errCutOff
	}
	n, _, size := mysql.LengthEncodedInt(data[columns:])
	at := columns + size + int(n+7)/8
	if as == replication.UPDATE_ROWS_EVENTv1 { // before and after
		at += int(n+7) / 8
	}
	if at >= len(data) {
		return nil, errCutOff
	}
	rows, err := mysql.DecompressMariadbData(data[at:])
	if err != nil {
		return nil, fmt.Errorf("rows in the log that are compressed: %w", err)
	}
	plain := slices.Concat(event[:replication.EventHeaderSize], data[:at], rows)
	length := len(plain)
	if r.sums {
		length += replication.BinlogChecksumLength
	}
	plain[4] = byte(as)
	binary.LittleEndian.PutUint32(plain[9:], uint32(length))
	if r.sums {
		plain = binary.LittleEndian.AppendUint32(plain, crc32.ChecksumIEEE(plain))
	}
	return plain, nil
}

// errCutOff means that an event of a log is shorter than its format requires.
var errCutOff = errors.New("the log has changes of rows that are cut off")

// errTooLarge means that a branch has more changes than Replay keeps in memory.
var errTooLarge = errors.New("the branch has changed too many rows to be repeated")

func (r *replay) keep(event []byte) {
	if r.bytes += len(event); r.bytes > heldLimit {
		r.err, r.group, r.statements = errTooLarge, nil, nil
		return
	}
	r.group = append(r.group, base64.StdEncoding.EncodeToString(event))
}

func binlogStatement(event []byte) string {
	return "BINLOG '" + base64.StdEncoding.EncodeToString(event) + "'"
}
