package stmt

import "testing"

func TestWhatBodiesLeave(t *testing.T) {
	for body, want := range map[string]bool{
		"SET NEW.a = NEW.b + 1": false,
		"BEGIN SET NEW.a = UPPER(NEW.a), NEW.b = IF(NEW.a = '', 1, 2); INSERT INTO audit (what, at) VALUES ('x', NOW()); END":                                false,
		"BEGIN DECLARE n, m INT DEFAULT 0; DECLARE CONTINUE HANDLER FOR NOT FOUND SET n = 1; SELECT COUNT(*) INTO n FROM t; UPDATE t SET time_zone = 1; END": false,
		"INSERT INTO `audit` (a) VALUES (1)":                                                 false,
		"BEGIN DECLARE n INT; SET n = 1; RETURN n; END":                                      false,
		"select `s`.`t`.`id` AS `id`,sum(`s`.`t`.`v`) from `s`.`t` where (`s`.`t`.`id` > 1)": false,
		"select `s`.`known`(1) AS `f`":                                                       false,
		"RETURN known(1)":                                                                    false,
		"RETURN other(1)":                                                                    true,
		"select `s`.`other`(1) AS `f`":                                                       true,
		"BEGIN SET @x = 1; RETURN 1; END":                                                    true,
		"SET @@time_zone = '+05:00'":                                                         true,
		"SET SESSION time_zone = '+05:00'":                                                   true,
		"SET time_zone = '+05:00'":                                                           true,
		"BEGIN DECLARE n INT; SET n = 1, time_zone = '+05:00'; END":                          true,
		"BEGIN DECLARE n INT; SET n = f(1, 2), sql_mode = ''; END":                           true,
		"BEGIN IF 1 THEN SET sql_mode = ''; END IF; END":                                     true,
		"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SET sql_mode = ''; END":                 true,
		"BEGIN UPDATE t SET a = 1; SET sql_mode = ''; END":                                   true,
		"BEGIN UPDATE t SET a = 1; lbl: LOOP SET sql_mode = ''; END LOOP; END":               true,
		"RETURN GET_LOCK('a', 1)":                                                            true,
		"RETURN /* x */ GET_LOCK /* y */ ('a', 1)":                                           true,
		"CREATE TEMPORARY TABLE t (a INT)":                                                   true,
		"BEGIN /*!50700 SET @x = 1 */; END":                                                  true,
		"BEGIN PREPARE s FROM 'x'; END":                                                      true,
		"SET NAMES latin1":                                                                   true,
		"SET CHARACTER SET latin1":                                                           true,
		"SET PASSWORD = 'x'":                                                                 true,
		"SET ROLE r":                                                                         true,
		"HANDLER t OPEN":                                                                     true,
		"SELECT NEXT VALUE FOR s":                                                            true,
		"SET STATEMENT max_statement_time=1 FOR SELECT 1":                                    false,
		"SET STATEMENT sql_mode='' FOR SELECT 1":                                             true,
		"SET STATEMENT max_statement_time=1 FOR SELECT NEXT VALUE FOR s":                     true,
		"'": true,
	} {
		if got := Keeps(body, 0, func(name string) bool { return name == "known" }); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}
