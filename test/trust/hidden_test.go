package trust

import (
	"fmt"
	"testing"
)

// Statements on other shards use the values that stored code assigned on one shard, or are refused. With
// performance_schema off, MySQL doesn't list assigned variables.
func TestWhatStoredCodeAssigned(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		made := []string{
			"CREATE FUNCTION assigning() RETURNS INT DETERMINISTIC NO SQL BEGIN SET @hidden = 7; RETURN 1; END",
			"CREATE PROCEDURE called() BEGIN SET @hidden = 8; END",
			"CREATE PROCEDURE spoken() BEGIN SET @text = 'SET @hidden = 9'; PREPARE told FROM @text; EXECUTE told; END",
		}
		undo := attack{clear: []string{"DROP FUNCTION assigning", "DROP PROCEDURE called", "DROP PROCEDURE spoken"}}
		for _, admin := range s.admins {
			admin.must(t, made...)
		}
		s.noticed(t, made)
		defer s.clearUp(t, &undo)
		reads := []string{"SELECT @hidden", "SELECT COUNT(*), MAX(@hidden) FROM test_order"}
		for buyer := range 3 { // of several shards
			reads = append(reads, fmt.Sprintf("SELECT MAX(@hidden), COUNT(*) FROM test_order WHERE buyer_uid = %d", buyer+1))
		}
		for _, run := range []string{"SELECT assigning()", "SELECT assigning(), COUNT(*) FROM test_order WHERE buyer_uid = 7", "CALL called()", "CALL spoken()"} {
			for _, read := range reads {
				s.try(t, attack{name: run + ", " + read, say: []string{run, read, "SET @hidden = 5", read}, maybe: []uint16{1105}})
			}
		}
	})
}
