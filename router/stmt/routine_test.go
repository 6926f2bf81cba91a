package stmt

import "testing"

func TestDefinesRoutine(t *testing.T) {
	for text, want := range map[string]RoutineDefinition{
		"CREATE FUNCTION f() RETURNS INT RETURN 1":                                          {"FUNCTION", TableName{"", "f"}, true, false, false, false},
		"create or replace procedure `a b`.`c``d`(IN n INT) DO n":                           {"PROCEDURE", TableName{"a b", "c`d"}, true, true, false, false},
		"CREATE DEFINER=`root`@`%` AGGREGATE FUNCTION IF NOT EXISTS shop.f(n INT) DO 1":     {"FUNCTION", TableName{"shop", "f"}, true, false, true, false},
		"CREATE DEFINER = CURRENT_USER() PROCEDURE p() DO 1":                                {"PROCEDURE", TableName{"", "p"}, true, false, false, false},
		"/* x */ DROP FUNCTION IF EXISTS shop . f":                                          {"FUNCTION", TableName{"shop", "f"}, false, false, false, true},
		"ALTER PROCEDURE p COMMENT 'function f'":                                            {"PROCEDURE", TableName{"", "p"}, false, false, false, false},
		"CREATE VIEW function AS SELECT 1":                                                  {},
		"CREATE DEFINER=x@y VIEW function AS SELECT 1":                                      {},
		"CREATE INDEX function ON t (c)":                                                    {},
		"CREATE TRIGGER procedure BEFORE INSERT ON t FOR EACH ROW SET @a = 1":               {},
		"CREATE TABLE function (a INT)":                                                     {},
		"SELECT 'CREATE FUNCTION f'":                                                        {},
		"SET STATEMENT max_statement_time = 1 FOR CREATE FUNCTION f() RETURNS INT RETURN 1": {},
		"DROP FUNCTION": {},
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		got, ok := l.DefinesRoutine()
		if ok != (want != RoutineDefinition{}) || ok && got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
}
