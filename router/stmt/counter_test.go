package stmt

import "testing"

func TestCounters(t *testing.T) {
	if len(counted) != Counters {
		t.Errorf("%d counters, and Counters is %d", len(counted), Counters)
	}
	for _, c := range []Counter{CountPrepare, CountExecute, CountClose, CountReset, CountFetch, CountLongData, CountChangeDB} {
		if c == 0 {
			t.Error("a command counts as nothing")
		}
	}
	for text, want := range map[string]string{
		"SELECT 1": "com_select", "SELECT 1 UNION SELECT 2": "com_select",
		"INSERT INTO t VALUES (1)": "com_insert", "INSERT INTO t SELECT 1": "com_insert_select",
		"REPLACE INTO t VALUES (1)": "com_replace", "UPDATE t SET a = 1": "com_update",
		"UPDATE t, u SET t.a = u.a": "com_update_multi", "DELETE t FROM t, u": "com_delete_multi",
		"SET @a = 1": "com_set_option", "ROLLBACK TO s": "com_rollback_to_savepoint", "DROP VIEW v": "com_drop_view",
		"SHOW STATUS": "com_show_status", "EXPLAIN SELECT 1": "com_select", "DESCRIBE t": "com_show_fields",
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		s, err := Parse(&l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := s.Counter.Name(); got != want {
			t.Errorf("%s counts as %s, want %s", text, got, want)
		}
	}
}
