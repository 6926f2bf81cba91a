package changes

import (
	"encoding/binary"
	"maps"
	"testing"

	"github.com/go-mysql-org/go-mysql/replication"
)

// said returns a statement event in the form of the log.
func said(schema, query string) []byte {
	data := make([]byte, 13)
	data[8] = byte(len(schema))
	data = append(data, schema...)
	data = append(data, 0)
	return append(data, query...)
}

// prepare returns an XA PREPARE event in the form of the log.
func prepare(gtrid, bqual string, onePhase bool) []byte {
	data := make([]byte, 13)
	if onePhase {
		data[0] = 1
	}
	binary.LittleEndian.PutUint32(data[1:], 1)
	binary.LittleEndian.PutUint32(data[5:], uint32(len(gtrid)))
	binary.LittleEndian.PutUint32(data[9:], uint32(len(bqual)))
	return append(append(data, gtrid...), bqual...)
}

func TestWhatALogSaysOfBranches(t *testing.T) {
	type event struct {
		kind replication.EventType
		data []byte
	}
	const one, other = "X'67',X'62',1", "X'68',X'',1"
	for name, c := range map[string]struct {
		events []event
		want   Word // of one
	}{
		"nothing":        {nil, Silent},
		"other's":        {[]event{{replication.XA_PREPARE_LOG_EVENT, prepare("h", "", false)}, {replication.QUERY_EVENT, said("", "XA COMMIT "+other)}}, Silent},
		"prepared":       {[]event{{replication.XA_PREPARE_LOG_EVENT, prepare("g", "b", false)}}, Prepared},
		"in one phase":   {[]event{{replication.XA_PREPARE_LOG_EVENT, prepare("g", "b", true)}}, Committed},
		"committed":      {[]event{{replication.XA_PREPARE_LOG_EVENT, prepare("g", "b", false)}, {replication.QUERY_EVENT, said("shop", "XA COMMIT "+one)}}, Committed},
		"rolled back":    {[]event{{replication.QUERY_EVENT, said("shop", "XA ROLLBACK "+one)}}, RolledBack},
		"begun and over": {[]event{{replication.QUERY_EVENT, said("", "XA START "+one)}, {replication.QUERY_EVENT, said("", "XA END "+one)}}, Silent},
		"in a text":      {[]event{{replication.QUERY_EVENT, said("", "INSERT INTO t VALUES ('XA COMMIT "+one+"')")}}, Silent},
		"of other kinds": {[]event{{replication.WRITE_ROWS_EVENTv1, prepare("g", "b", false)}, {replication.MARIADB_ANNOTATE_ROWS_EVENT, []byte("XA COMMIT " + one)}}, Silent},
	} {
		words := map[string]Word{one: Silent}
		for _, e := range c.events {
			if err := note(e.kind, e.data, words); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !maps.Equal(words, map[string]Word{one: c.want}) {
			t.Errorf("%s: %v, want %v", name, words, c.want)
		}
	}
	if err := note(replication.XA_PREPARE_LOG_EVENT, []byte("cut"), nil); err == nil {
		t.Error("an event that is cut off is read")
	}
}
