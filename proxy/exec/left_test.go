package exec

import (
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router/plan"
)

func planOf(t testing.TB, text string) plan.Plan {
	p, _ := statementOf(t, text)
	return p
}

// TestLeft: the state that a statement may leave on its connection follows from its facts and the server's answer.
func TestLeft(t *testing.T) {
	done, failed := answer{}, answer{Answer: sysvars.Answer{Failed: true}, code: 1146}
	for _, c := range []struct {
		text   string
		answer answer
		want   left
	}{
		{"SELECT 1", done, 0},
		{"SELECT 1", answer{warned: true}, warnings},
		{"SELECT 1", failed, warnings},
		{"SELECT SQL_CALC_FOUND_ROWS id FROM setting", done, foundRows},
		{"SELECT SQL_CALC_FOUND_ROWS id FROM setting", failed, warnings},
		{"INSERT INTO setting VALUES (1)", done, 0},
		{"INSERT INTO setting VALUES (1)", answer{inserted: true}, insertID},
		{"INSERT INTO setting VALUES (1)", answer{Answer: failed.Answer, inserted: true}, warnings},
		{"SELECT @a := id FROM setting", done, assigned},
		{"SELECT @a := id FROM setting", failed, warnings | assigned},
		{"CALL p()", done, insertID | procedureState},
		{"CALL p()", failed, warnings | insertID | procedureState},
		{"SELECT f(1)", done, insertID | routineState},
		{"SELECT GET_LOCK('a', 0)", done, namedLocks},
		{"SELECT GET_LOCK('a', 0)", failed, warnings | namedLocks},
		{"CREATE TEMPORARY TABLE t (a INT)", done, madeTemporary},
		{"CREATE TEMPORARY TABLE t (a INT)", failed, warnings},
		{"DROP TEMPORARY TABLE t", done, lostTemporary},
		{"HANDLER t OPEN", done, openedHandler},
		{"HANDLER t CLOSE", done, closedHandler},
		{"HANDLER t READ FIRST", done, 0},
		{"XA START 'a'", done, xaBranch},
		{"XA START 'a'", failed, warnings},
	} {
		if got := leftBy(planOf(t, c.text).About(), c.answer, true); got != c.want {
			t.Errorf("%s: %016b, want %016b", c.text, got, c.want)
		}
	}
}

// TestMetadataLocksLeft: with autocommit off, a connection outside of a transaction may hold metadata locks, unless the server
// reports an open transaction or cursor.
func TestMetadataLocksLeft(t *testing.T) {
	for _, c := range []struct {
		text    string
		status  uint16
		commits bool
		want    left
	}{
		{"SELECT id FROM setting", 0, false, metadataLocks},
		{"SELECT id FROM setting", 0, true, 0},
		{"SELECT id FROM setting", mysql.SERVER_STATUS_IN_TRANS, false, 0},
		{"SELECT id FROM setting", mysql.SERVER_STATUS_CURSOR_EXISTS, false, 0},
		{"SELECT 1", 0, false, 0},
		{"CREATE TABLE t (a INT)", 0, false, 0},
	} {
		if got := leftBy(planOf(t, c.text).About(), answer{status: c.status}, c.commits); got != c.want {
			t.Errorf("%s, status %#x, commits %t: %016b, want %016b", c.text, c.status, c.commits, got, c.want)
		}
	}
	if got := txn.Effects(planOf(t, "CALL p()").About()); got != backend.Unknown {
		t.Errorf("CALL leaves %v", got)
	}
}
