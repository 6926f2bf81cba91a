package stmt

import "testing"

func TestAssignsVariables(t *testing.T) {
	for body, want := range map[string]bool{
		"SET @a = 1": true, "SET NEW.n = 1, @a = 2": true, "SET /* a */ @a /* b */ = 1": true, "SET @`a` = 1": true, "SET @'a' = 1": true,
		"SET NEW.n = (@a := @a + 1)": true, "BEGIN SELECT 1, 2 INTO NEW.n, @a; END": true, "BEGIN IF NEW.n THEN SET @A=1; END IF; END": true, "SET NEW.n = 'open": true,
		"BEGIN GET DIAGNOSTICS @a = ROW_COUNT; END": true,
		"SET NEW.n = @a": false, "BEGIN IF @a = 1 THEN SET NEW.n = 1; END IF; END": false, "SET NEW.n = CONCAT('@a = ', 'SET @a = 1')": false,
		"SET NEW.n = 1 -- SET @a = 1\n": false, "SET NEW.n = @@sql_mode": false, "SET NEW.n = IF(@a IS NULL, 1, 2)": false,
	} {
		if got := AssignsVariables(body, 0); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
