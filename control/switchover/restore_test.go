package switchover

import "testing"

func TestForWantOfWhatAReplicaHasStopped(t *testing.T) {
	const said = "Error 'XAER_NOTA: Unknown XID' on query. Default database: ''. Query: 'XA ROLLBACK X'6c6f',X'7331',1819239285'"
	for name, c := range map[string]struct{ errno, message, want string }{
		"to roll it back":     {"1397", said, "X'6c6f',X'7331',1819239285"},
		"to commit it":        {"1397", "Error 'XAER_NOTA: Unknown XID' on query. Default database: 'shop'. Query: 'XA COMMIT X'78',X'',1'", "X'78',X'',1"},
		"in another language": {"1397", "Fehler 'XAER_NOTA: Unbekannte XID' in Anfrage. Anfrage: 'XA COMMIT X'78',X'',1'", "X'78',X'',1"},
		"of other reasons":    {"1062", "Error 'Duplicate entry '1' for key 'PRIMARY'' on query. Default database: ''. Query: 'XA ROLLBACK X'6c6f',X'7331',1'", ""},
		"of none":             {"0", "", ""},
		"of words":            {"1397", "XAER_NOTA: Unknown XID", ""},
	} {
		if got := lacks(c.errno, c.message); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
