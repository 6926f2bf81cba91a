package trust

import "testing"

// Sequences that once were answered otherwise than by one server.
func TestKnownSequences(t *testing.T) {
	const copies = "INSERT INTO test_order (buyer_uid, amount, status) SELECT id, 2, 'q' FROM plain WHERE id < "
	stands(t, func(t *testing.T, s *stand) {
		for _, texts := range [][]string{
			{"SET autocommit = 0", "SAVEPOINT b", "SELECT ROW_COUNT()", "SELECT COUNT(*) FROM test_order", "ROLLBACK TO b", "SELECT 1", "COMMIT", "SELECT 1"},
			{"SET SESSION TRANSACTION READ ONLY", "COMMIT AND CHAIN", copies + "3"},
			{"SET SESSION TRANSACTION READ ONLY", "BEGIN", copies + "0"},
			{"SET SESSION TRANSACTION READ ONLY", "BEGIN", "SET SESSION TRANSACTION READ WRITE", copies + "0", "COMMIT", copies + "0"},
			{"SET SESSION TRANSACTION READ ONLY", "SET TRANSACTION READ WRITE", copies + "0", copies + "0"},
			{"SET SESSION TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", copies + "0"},
			{"SET SESSION TRANSACTION READ ONLY", "START TRANSACTION READ WRITE", copies + "0", "SELECT 1", "ROLLBACK"},
			{"SET TRANSACTION READ ONLY", "BEGIN", copies + "0", "COMMIT", copies + "0"},
			{"SET TRANSACTION READ ONLY", copies + "0", copies + "0"},
			{"SET autocommit = 0", "SET TRANSACTION READ ONLY", "SELECT COUNT(*) FROM test_order", copies + "0", "COMMIT", copies + "0"},
			{"LOCK TABLES test_order READ, plain WRITE", makesTemporary, "SET autocommit = 0", "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 7", "DROP TEMPORARY TABLE tt", "COMMIT", "UNLOCK TABLES"},
		} {
			for _, binary := range []bool{false, true} {
				var steps []step
				for _, text := range texts {
					steps = append(steps, step{text, binary})
				}
				if difference, _, _ := s.played(t, steps); difference != "" {
					t.Errorf("%s, in\n%s", difference, inLines(steps))
				}
			}
		}
	})
}
