//go:build servers

package schema

import (
	"testing"
	"time"

	"locus/internal/test/servers"
)

// Every way to change a schema changes the marker. Statements that change no schema don't.
func TestMarker(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := open(t, servers.Start(t, engine, 1)...)
		db := s.servers[0].DB(t, s.database)
		db.SetMaxOpenConns(1) // for PREPARE
		marker := func() *Marker {
			m, err := ReadMarker(t.Context(), s.queriers["s0"])
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		before := marker()
		for _, one := range []struct {
			text    string
			changes bool
		}{
			{"CREATE TABLE t (id INT PRIMARY KEY)", true},
			{"INSERT INTO t VALUES (1)", false},
			{"SELECT * FROM t", false},
			{"ANALYZE TABLE t", false},
			{"CREATE TEMPORARY TABLE x (id INT)", true}, // more than necessary
			{"ALTER TABLE t ADD COLUMN n INT", true},
			{"CREATE INDEX n ON t (n)", true},
			{"DROP INDEX n ON t", true},
			{"RENAME TABLE t TO u", true},
			{"PREPARE p FROM 'CREATE TABLE v (id INT PRIMARY KEY)'", false},
			{"EXECUTE p", true},
			{"CREATE PROCEDURE makes() CREATE TABLE w (id INT PRIMARY KEY)", true},
			{"CALL makes()", true},
			{"DROP PROCEDURE makes", true},
			{"CREATE VIEW q AS SELECT id FROM u", true},
			{"DROP VIEW q", true},
			{"CREATE TRIGGER g BEFORE INSERT ON u FOR EACH ROW SET @a = 1", true},
			{"DROP TRIGGER g", true},
			{"CREATE EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP + INTERVAL 1 DAY DO SELECT 1", true},
			{"DROP EVENT e", true},
			{"CREATE DATABASE IF NOT EXISTS marker_of_schemas", true},
			{"DROP DATABASE marker_of_schemas", true},
			{"CREATE USER 'marked'@'localhost' IDENTIFIED BY 'Secret-1'", true},
			{"GRANT SELECT ON *.* TO 'marked'@'localhost'", true},
			{"REVOKE SELECT ON *.* FROM 'marked'@'localhost'", true},
			{"DROP USER 'marked'@'localhost'", true},
			{"FLUSH PRIVILEGES", true},
			{"DROP TABLE u, v, w", true},
		} {
			if _, err := db.Exec(one.text); err != nil {
				t.Fatalf("%s: %v", one.text, err)
			}
			now := marker()
			if now.Same(before) == one.changes {
				t.Errorf("%s: the schema seems changed: %v, want %v", one.text, !now.Same(before), one.changes)
			}
			before = now
		}
		if err := s.servers[0].Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.servers[0].Restart(t)
		if marker().Same(before) {
			t.Error("a restart doesn't show")
		}
	})
}

func TestMarkerOfARestartedServer(t *testing.T) {
	start := time.Now()
	before := &Marker{Counts: "a", Uptime: time.Hour, At: start}
	for _, c := range []struct {
		uptime, passed time.Duration
		same           bool
	}{
		{time.Hour + 10*time.Second, 10 * time.Second, true},
		{time.Hour + 9*time.Second, 10 * time.Second, true}, // whole seconds
		{time.Hour + 5*time.Second, 10 * time.Second, false},
		{3 * time.Second, 10 * time.Second, false},
		{2 * time.Hour, 3 * time.Hour, false},
	} {
		now := &Marker{Counts: "a", Uptime: c.uptime, At: start.Add(c.passed)}
		if now.Same(before) != c.same {
			t.Errorf("up for %v, %v later: same is %v", c.uptime, c.passed, !c.same)
		}
	}
	if (*Marker)(nil).Same(before) || before.Same(nil) {
		t.Error("no marker is like another")
	}
}
