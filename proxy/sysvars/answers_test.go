package sysvars

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/router/stmt"
)

// asked returns the answers of a session with values for each question.
func asked(f *fakeShard) *Answers {
	s := newState(f)
	s.InsertID, s.RowCount, s.FoundRows, s.Reads, s.Partial = 77, 3, 4, Replica, true
	s.Context = Context{text: "a=1"}
	s.Warn("mind")
	s.ignore("wait_timeout", "30")
	return &Answers{
		Evaluator: s, ID: 5, User: "app", Host: "10.0.0.9", Port: "3306", Version: "9.7.0", Hostname: "proxy", MaxStatement: 1 << 20,
		Status: func() Status {
			return Status{Prepared: 2, Statements: 9, Uptime: time.Minute, TLSVersion: "TLSv1.3", Cipher: "AES"}
		},
		Processes: func() []Process {
			return []Process{{ID: 5, User: "app", Command: "Query", Pinned: 31}, {ID: 4, User: "other", Command: "Sleep"}}
		},
		Virtual: knowing{},
	}
}

func TestRewrite(t *testing.T) {
	for _, test := range []struct {
		text, want string
		is         flavor.Flavor
	}{
		{text: "SELECT 1", want: "SELECT 1"},
		{text: "SELECT CONNECTION_ID()", want: "SELECT IF(TRUE, CAST(5 AS UNSIGNED), CONNECTION_ID()) AS `CONNECTION_ID()`"},
		{text: "SELECT ROW_COUNT(), found_rows() AS f", want: "SELECT IF(TRUE, 3, ROW_COUNT()) AS `ROW_COUNT()`, IF(TRUE, 4, found_rows()) AS f"},
		{text: "SELECT id FROM t ORDER BY CONNECTION_ID()", want: "SELECT id FROM t ORDER BY CAST(5 AS SIGNED)"},
		{text: "SELECT USER(), CURRENT_USER", want: "SELECT IF(TRUE, 'app@10.0.0.9', USER()) AS `USER()`, IF(TRUE, 'app@%', CURRENT_USER) AS `CURRENT_USER`"},
		{text: "SELECT @@version AS v", want: "SELECT IF(TRUE, '9.7.0', @@version) AS v"},
		{text: "SELECT @@GLOBAL.version_comment AS c", want: "SELECT IF(TRUE, CONCAT(@@global.version_comment, ' (locus)'), @@version_comment) AS c"},
		{text: "SELECT @@locus_partial AS p, @@global.locus_partial AS g", want: "SELECT 'on' AS p, 'off' AS g"},
		{text: "SELECT @@locus_read AS r, @@global.locus_read AS g, @@locus_context AS c", want: "SELECT 'replica' AS r, 'primary' AS g, 'a=1' AS c"},
		{text: "SELECT @@wait_timeout AS w, @@global.wait_timeout AS g", want: "SELECT IF(TRUE, CAST(30 AS UNSIGNED), @@wait_timeout) AS w, @@global.wait_timeout AS g"},
		{text: "SELECT @@warning_count AS w, @@error_count AS e", want: "SELECT IF(TRUE, CAST(1 AS UNSIGNED), @@warning_count) AS w, IF(TRUE, CAST(0 AS UNSIGNED), @@error_count) AS e"},
		{text: "SELECT @@gtid_mode AS g", want: "SELECT IF(TRUE, 'OFF', @@gtid_mode) AS g"},
		{text: "SELECT @@gtid_mode AS g", want: "SELECT @@gtid_mode AS g", is: flavor.MariaDB},
		{text: "SELECT @@datadir AS d, @@tmp_table_size AS s", want: "SELECT @@datadir AS d, @@tmp_table_size AS s"},
		{text: "SELECT @@identity AS i, LAST_INSERT_ID() AS l", want: "SELECT IF(TRUE, CAST(77 AS UNSIGNED), @@identity) AS i, IF(TRUE, CAST(77 AS UNSIGNED), LAST_INSERT_ID()) AS l"},
		{text: "SET @a = @@port + CONNECTION_ID()", want: "SET @a = 3306 + 5"},
		{text: "SELECT RELEASE_ALL_LOCKS() AS n", want: "SELECT (CAST(RELEASE_ALL_LOCKS() AS SIGNED) - 1) AS n"},
		{text: "SELECT IS_USED_LOCK('x') AS n", want: "SELECT IF(TRUE, CASE IS_USED_LOCK('x') WHEN 31 THEN 5 ELSE IS_USED_LOCK('x') END, IS_USED_LOCK('x')) AS n"},
		{text: "SELECT * FROM information_schema.session_variables", want: "SELECT * FROM information_schema.session_variables"}, // MySQL has this table in another schema
	} {
		a := asked(&fakeShard{is: test.is})
		st, l := parse(t, test.text)
		got, err := a.Rewrite(st, l)
		if err != nil || string(got) != test.want {
			t.Errorf("%v, %s:\n%s, %v, want\n%s", test.is, test.text, got, err, test.want)
		}
	}
}

// The servers' tables about sessions have the proxy's values in them.
func TestTablesOfSessions(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT * FROM information_schema.session_variables": {"FROM information_schema.session_variables) AS `session_variables`", " WHEN 'identity' THEN 77", " WHEN 'port' THEN 3306", " WHEN 'wait_timeout' THEN 30"},
		"SELECT * FROM information_schema.global_status":     {" WHEN 'questions' THEN 9", " WHEN 'threads_running' THEN 1", " WHEN 'uptime' THEN 60", " WHEN 'ssl_version' THEN 'TLSv1.3'"},
		"SELECT * FROM information_schema.PROCESSLIST":       {"LEFT JOIN information_schema.PROCESSLIST AS threads", "AS `processlist`"},
	} {
		a := asked(&fakeShard{is: flavor.MariaDB})
		st, l := parse(t, text)
		got, err := a.Rewrite(st, l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		for _, part := range want {
			if !strings.Contains(string(got), part) {
				t.Errorf("%s: %s lacks %q", text, got, part)
			}
		}
	}
}

func TestOwned(t *testing.T) {
	for name, want := range map[string]bool{
		"version()": true, "last_insert_id()": false, "set last_insert_id()": true, "@@version": true, "@@identity": false, "set @@identity": true,
		"@@wait_timeout": true, "@@pseudo_thread_id": true, "@@locus_read": true, "@@datadir": true, "@@autocommit": false, "@@sql_mode": false,
		"table locus.jobs": true, "show grants": true, "@@names": false,
	} {
		if Owned[name] != want {
			t.Errorf("%s is owned: %v", name, Owned[name])
		}
	}
	for text, want := range map[string]bool{"SELECT @@warning_count": true, "SELECT @@error_count, 1": true, "SELECT @@version, USER()": false} {
		if st, _ := parse(t, text); Diagnoses(st) != want {
			t.Errorf("%s asks for diagnostics: %v", text, !want)
		}
	}
}

// Users with limited rights see neither paths of files nor the statements of others.
func TestBoundedUsers(t *testing.T) {
	a := asked(&fakeShard{})
	a.Bounded = true
	st, l := parse(t, "SELECT @@datadir AS d")
	if got, err := a.Rewrite(st, l); err != nil || string(got) != "SELECT IF(TRUE, '', @@datadir) AS d" {
		t.Errorf("%s, %v", got, err)
	}
	for _, o := range a.overrides("global_variables") {
		if o.name == "last_insert_id" || o.name == "locus_read" || o.name == "wait_timeout" {
			t.Errorf("SHOW GLOBAL VARIABLES tells the session's own %s", o.name)
		}
	}
	if !slices.ContainsFunc(a.overrides("global_variables"), func(o override) bool { return o == override{"datadir", "''"} }) {
		t.Error("SHOW GLOBAL VARIABLES tells where files lie")
	}
	if text := a.processTable("threads"); strings.Contains(text, "other") || !strings.Contains(text, "app") {
		t.Error(text)
	}
}

func shown(t *testing.T, text string) *stmt.Shown {
	t.Helper()
	st, _ := parse(t, text)
	return st.Shown
}

func TestShow(t *testing.T) {
	f := &fakeShard{is: flavor.MariaDB, answers: map[string]*backend.Rows{
		"SHOW GRANTS": table([]string{"GRANT USAGE ON *.* TO `proxy`@`%` IDENTIFIED BY PASSWORD '*ABC'"}, []string{"GRANT ALL ON `shop`.* TO 'proxy'@'%'"}),
	}}
	for text, want := range map[string]string{
		"SHOW GRANTS":                              "SELECT 'GRANT USAGE ON *.* TO `app`@`%`' AS `Grants for app@%` UNION ALL SELECT 'GRANT ALL ON `shop`.* TO `app`@`%`' AS `Grants for app@%`",
		"SHOW FULL PROCESSLIST":                    ", INFO AS Info, 0.000 AS Progress FROM (SELECT ours.ID",
		"SHOW PROCESSLIST":                         ", LEFT(INFO, 100) AS Info",
		"SHOW VARIABLES LIKE 'x%'":                 "FROM information_schema.session_variables) AS session_variables WHERE Variable_name LIKE 'x%' ORDER BY Variable_name",
		"SHOW GLOBAL VARIABLES WHERE value = 'ON'": "AS global_variables WHERE value = 'ON' ORDER BY",
		"SHOW STATUS":                              "IF(VARIABLE_NAME LIKE 'COM~_%' ESCAPE '~', '0', VARIABLE_VALUE) END AS Value FROM information_schema.session_status) AS session_status",
	} {
		got, err := asked(f).Show(shown(t, text))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	if _, err := asked(&fakeShard{}).Show(shown(t, "SHOW GRANTS")); !errors.Is(err, errNotAsked) {
		t.Errorf("grants of a shard that is away: %v", err)
	}
}

// MySQL's tables of status don't count commands, so the counters of SHOW STATUS are added to them.
func TestCountersBesideTheTable(t *testing.T) {
	f := &fakeShard{answers: map[string]*backend.Rows{
		"SHOW SESSION STATUS LIKE 'Com%'": table([]string{"Com_select", "100"}, []string{"Compression", "OFF"}),
		"SHOW GLOBAL STATUS LIKE 'Com%'":  table([]string{"Com_select", "100"}),
	}}
	a := asked(f)
	st, _ := parse(t, "SELECT 1")
	a.Commands.Count(st)
	for text, want := range map[string]string{
		"SHOW STATUS WHERE Value > 0":               `[["Com_select","1"]]`,
		"SHOW GLOBAL STATUS WHERE Value > 0":        `[["Com_select","100"]]`,
		"SHOW STATUS LIKE 'Uptime'":                 "",
		"SHOW STATUS LIKE '_ptime'":                 `[["Com_select","1"]]`,
		"SHOW GLOBAL STATUS LIKE 'Threads_running'": "",
	} {
		got, err := a.Show(shown(t, text))
		if err != nil || strings.Contains(string(got), "JSON_TABLE") != (want != "") || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	f.answers = nil
	if _, err := a.Show(shown(t, "SHOW STATUS WHERE Value > 0")); !errors.Is(err, errNotAsked) {
		t.Errorf("a shard that is away: %v", err)
	}
}

func TestCounters(t *testing.T) {
	var c Counters
	for _, text := range []string{"SELECT 1", "SELECT 2", "PREPARE p FROM 'SELECT 1'"} {
		st, _ := parse(t, text)
		c.Count(st)
	}
	if c[stmt.CountPrepare] != 1 {
		t.Errorf("%v", c)
	}
	st, _ := parse(t, "FLUSH STATUS")
	if c.Count(st); c != (Counters{}) {
		t.Errorf("after FLUSH STATUS: %v", c)
	}
}

func TestPatched(t *testing.T) {
	f := &fakeShard{answers: map[string]*backend.Rows{
		"SHOW SESSION variables LIKE 'w%'": table([]string{"wait_timeout", "28800"}, []string{"warning_count", "0"}, []string{"wsrep_on", "OFF"}),
		"SELECT 30, 1":                     row("30", "1"),
		"SHOW SESSION status ":             table([]string{"Com_select", "100"}, []string{"Questions", "500"}),
		"SELECT 9":                         row("9"),
	}}
	a := asked(f)
	columns, list, done, err := a.Patched(shown(t, "SHOW VARIABLES LIKE 'w%'"))
	if err != nil || !done || len(columns) != 2 || !slices.EqualFunc(list, [][]string{{"wait_timeout", "30"}, {"warning_count", "1"}, {"wsrep_on", "OFF"}}, slices.Equal) {
		t.Errorf("%v, %v, %v", list, done, err)
	}
	if a.RowCount != -1 || a.FoundRows != 3 || len(a.Conditions) != 0 {
		t.Errorf("%+v", a.Diagnostics)
	}
	_, list, done, err = a.Patched(shown(t, "SHOW STATUS"))
	if err != nil || !done || !slices.EqualFunc(list, [][]string{{"Com_select", "0"}, {"Questions", "9"}}, slices.Equal) {
		t.Errorf("%v, %v, %v", list, done, err)
	}
	for _, text := range []string{"SHOW VARIABLES WHERE Value = 1", "SHOW PROCESSLIST"} {
		if _, _, done, err := a.Patched(shown(t, text)); done || err != nil {
			t.Errorf("%s: %v, %v", text, done, err)
		}
	}
	if _, _, _, err := a.Patched(shown(t, "SHOW VARIABLES WHERE somebody(Variable_name)")); !errors.Is(err, errNotAsked) || f.noted[len(f.noted)-1] != backend.State {
		t.Errorf("%v, %v", err, f.noted)
	}
}
