package stmt

import (
	"strings"
	"testing"
)

func TestDefinesTrigger(t *testing.T) {
	on := func(name, table TableName) TriggerDefinition { return TriggerDefinition{name, true, table, false} }
	for text, want := range map[string]TriggerDefinition{
		"CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1":                                        on(TableName{"", "r"}, TableName{"", "t"}),
		"create or replace definer=`root`@`%` trigger `a b`.`c``d` AFTER DELETE ON `on`.x FOR EACH ROW DO 1": on(TableName{"a b", "c`d"}, TableName{"on", "x"}),
		"CREATE DEFINER = CURRENT_USER() TRIGGER IF NOT EXISTS shop.r AFTER UPDATE ON t FOR EACH ROW DO 1":   on(TableName{"shop", "r"}, TableName{"", "t"}),
		"CREATE TRIGGER r BEFORE INSERT OR UPDATE OF a, `on`, c ON t FOR EACH ROW DO 1":                      on(TableName{"", "r"}, TableName{"", "t"}),
		"/* x */ DROP TRIGGER IF EXISTS shop . r":                                                            {Name: TableName{"shop", "r"}, IfExists: true},
		"DROP TRIGGER r":                  {Name: TableName{"", "r"}},
		"CREATE PROCEDURE trigger() DO 1": {},
		"CREATE TRIGGER r":                {},
		"CREATE TRIGGER r BEFORE UPDATE OF " + strings.Repeat("a, ", mostOfTrigger) + "a ON t": {},
		"SET STATEMENT max_statement_time = 1 FOR DROP TRIGGER r":                              {},
		"DROP TRIGGER": {},
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		got, ok := l.DefinesTrigger()
		if ok != (want != TriggerDefinition{}) || ok && got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
}
