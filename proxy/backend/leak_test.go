//go:build servers

package backend

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/internal/test/servers"
)

// questions ask for all session state that the property below changes.
var questions = []string{
	"IFNULL(DATABASE(), '')", "@@sql_mode", "@@autocommit", "@@time_zone", "@@sql_safe_updates", "@@group_concat_max_len",
	"@@character_set_client", "@@collation_connection", "IFNULL(@@character_set_results, 'NULL')",
	"IFNULL(HEX(CONVERT(@a USING utf8mb4)), 'unset')", "IFNULL(@b, 'unset')",
	"(SELECT GROUP_CONCAT(name) FROM place)", // the database again, by a table name without a schema
}

// assignable contains variables, the literals that they are set to, and the values that the server returns for
// them.
var assignable = []struct {
	question int
	name     string
	values   [][2]string
}{
	{1, "sql_mode", [][2]string{{"''", ""}, {"'ANSI_QUOTES'", "ANSI_QUOTES"}, {"'NO_BACKSLASH_ESCAPES'", "NO_BACKSLASH_ESCAPES"}}},
	{2, "autocommit", [][2]string{{"0", "0"}, {"1", "1"}}},
	{3, "time_zone", [][2]string{{"'+00:00'", "+00:00"}, {"'-03:30'", "-03:30"}}},
	{4, "sql_safe_updates", [][2]string{{"1", "1"}}},
	{5, "group_concat_max_len", [][2]string{{"4096", "4096"}}},
	{8, "character_set_results", [][2]string{{"NULL", "NULL"}, {"latin1", "latin1"}}},
	{9, "@a", [][2]string{hexed(`it's`), hexed(`b\ck`), hexed("é"), hexed("")}},
	{10, "@b", [][2]string{{"7", "7"}, {"'x'", "x"}}},
}

func hexed(text string) [2]string {
	return [2]string{Quote(text), strings.ToUpper(hex.EncodeToString([]byte(text)))}
}

var collations = [][2]string{{"utf8mb4", ""}, {"utf8mb4", "utf8mb4_bin"}, {"latin1", "latin1_swedish_ci"}, {"gbk", "gbk_chinese_ci"}}

// model is one session. It contains the settings that the session wants, and the answers that a server must then give.
type model struct {
	settings *Settings
	answers  []string
}

func (m *model) use(db string) {
	m.settings = m.settings.WithDatabase(db)
	m.answers[0], m.answers[11] = db, db
}

func (m *model) names(charset, collation string, defaults []string) {
	m.settings = m.settings.WithNames(charset, collation)
	if collation == "" {
		collation = defaults[7]
	}
	m.answers[6], m.answers[7], m.answers[8] = charset, collation, charset
}

// A session finds its own state on each connection that it borrows, and never the state of another session.
func TestStateNeitherLeaksNorGetsLost(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	engines(t, func(t *testing.T, s *servers.Server) {
		defaults := answersOf(t, s)
		rapid.Check(t, func(r *rapid.T) {
			p := NewPool(target(s), Limits{MaxOpen: rapid.IntRange(1, 3).Draw(r, "limit")}, slog.New(slog.DiscardHandler))
			defer func() { _ = p.Close(over) }()
			sessions := make([]*model, 4)
			for i := range sessions {
				sessions[i] = &model{settings: Default, answers: slices.Clone(defaults)}
				sessions[i].use("one")
			}
			for range rapid.IntRange(1, 30).Draw(r, "steps") {
				act(r, t, p, rapid.SampledFrom(sessions).Draw(r, "session"), defaults)
			}
		})
	})
}

// act may change a session's state, and then borrows a connection for it.
func act(r *rapid.T, t *testing.T, p *Pool, m *model, defaults []string) {
	change(r, m, defaults)
	c, err := p.Borrow(t.Context(), m.settings, 0)
	if err != nil {
		r.Fatal(err)
	}
	check(r, t, c, m)
	switch rapid.SampledFrom([]string{"return", "adopt", "unclassified", "reset", "carry", "rollback", "refused", "discard"}).Draw(r, "then") {
	case "adopt": // a SET that the session passes on itself
		exec(t, c, "SET @b=7, time_zone='+00:00'")
		m.settings = m.settings.With("@b", "7").With("time_zone", "'+00:00'")
		m.answers[10], m.answers[3] = "7", "+00:00"
		c.Adopt(m.settings)
		check(r, t, c, m)
	case "unclassified": // a procedure may have changed anything
		if _, err := c.Exec(t.Context(), "SET @a='left over', @b='left over', sql_mode='ANSI', NAMES latin1"); err != nil {
			r.Fatal(err)
		}
	case "reset":
		exec(t, c, "SET @a='left over'", "START TRANSACTION", "INSERT INTO one.place VALUES ('left over', 1)")
		if err := c.Reset(t.Context()); err != nil {
			r.Fatal(err)
		}
	case "carry":
		m.settings = m.settings.With("sql_safe_updates", "DEFAULT")
		m.answers[4] = "0"
		if err := c.Carry(t.Context(), m.settings); err != nil {
			r.Fatal(err)
		}
		check(r, t, c, m)
	case "rollback":
		exec(t, c, "START TRANSACTION", "INSERT INTO one.place VALUES ('left over', 1)", "ROLLBACK")
	case "refused":
		p.Return(c)
		if _, err := p.Borrow(t.Context(), m.settings.WithDatabase("nosuch").With("@b", "'refused'"), 0); err == nil {
			r.Fatal("an unknown database is accepted")
		}
		return
	case "discard":
		p.Discard(c)
		return
	}
	p.Return(c)
}

func change(r *rapid.T, m *model, defaults []string) {
	switch rapid.SampledFrom([]string{"nothing", "use", "names", "set", "set", "set", "unset"}).Draw(r, "change") {
	case "use":
		m.use(rapid.SampledFrom([]string{"one", "two", "three"}).Draw(r, "database"))
	case "names":
		names := rapid.SampledFrom(collations).Draw(r, "names")
		m.names(names[0], names[1], defaults)
	case "set":
		v := rapid.SampledFrom(assignable).Draw(r, "variable")
		to := rapid.SampledFrom(v.values).Draw(r, "value")
		m.settings = m.settings.With(v.name, to[0])
		m.answers[v.question] = to[1]
	case "unset":
		v := rapid.SampledFrom(assignable).Draw(r, "variable")
		m.settings = m.settings.Without(v.name)
		m.answers[v.question] = defaults[v.question]
		if v.name == "character_set_results" {
			m.answers[v.question], _ = m.settings.Names()
		}
	}
}

func check(r *rapid.T, t *testing.T, c *Conn, m *model) {
	t.Helper()
	rows, err := c.Own().Query(t.Context(), "SELECT "+strings.Join(questions, ", "))
	if err != nil {
		r.Fatal(err)
	}
	var wrong []string
	for i, want := range m.answers {
		if got := string(rows.Rows[0][i]); got != want {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", questions[i], got, want))
		}
	}
	if wrong != nil {
		r.Fatalf("with %v: %s", m.settings, strings.Join(wrong, "; "))
	}
	if !c.InTransaction() {
		return
	}
	exec(t, c, "COMMIT") // with autocommit off, the query began a transaction
}

// answersOf returns the answers of a fresh connection, outside of any pool, after SET NAMES utf8mb4.
func answersOf(t *testing.T, s *servers.Server) []string {
	t.Helper()
	c, err := login(t.Context(), target(s), 0, Limits{}.withDefaults().ConnectTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	exec(t, c, "SET NAMES utf8mb4", "USE one")
	rows, err := c.Own().Query(t.Context(), "SELECT "+strings.Join(questions, ", "))
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(questions))
	for i, v := range rows.Rows[0] {
		answers[i] = string(v)
	}
	return answers
}
