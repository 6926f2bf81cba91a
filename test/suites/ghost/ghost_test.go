//go:build long

package ghost

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/lines"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

const database = "ghost"

func TestUndeclared(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := stand.Start(t, engine)
		s.Check(t, func(t *testing.T, at stand.Endpoint, _ []string) stand.Outcomes {
			at.Database(t, database)
			outcomes := run(t, at)
			db := at.DB(t, database)
			// Ghost fills milestones on a day that it draws by lot when it starts, of which today is one.
			for _, table := range column(t, db, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME <> 'milestones' ORDER BY 1") {
				rows := column(t, db, "SELECT COUNT(*) FROM `"+table+"`")
				outcomes["table "+table] = stand.Outcome{State: stand.Passed, Result: strings.Join(rows, " ")}
			}
			if at.Name == s.Proxy.Name {
				refusals(t, db)
			}
			return outcomes
		})
	})
}

// run is cases.js.
func run(t *testing.T, at stand.Endpoint) stand.Outcomes {
	t.Helper()
	cases, err := filepath.Abs("cases.js")
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report")
	stand.Command{
		Dir: t.TempDir(), Args: []string{"node", cases}, Limit: 15 * time.Minute,
		Env: []string{
			"APP_HOST=" + at.Host, fmt.Sprintf("APP_PORT=%d", at.Port), "APP_USER=" + at.User, "APP_PASSWORD=" + at.Password,
			"APP_DATABASE=" + database, "APP_REPORT=" + report, "TZ=UTC", "APP_DIR=" + stand.Installed(t, "ghost"),
		},
	}.Output(t)
	outcomes := lines.Read(t, report, "")
	for name, o := range outcomes {
		if o.State == stand.Passed {
			o.Result = o.Detail
			outcomes[name] = o
		}
	}
	if _, ended := outcomes["end"]; !ended {
		outcomes["end"] = stand.Outcome{State: stand.Failed, Detail: "the program did not come to its end"}
	}
	return outcomes
}

func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// refusals declares tables of it by what their rows belong to: their keys are texts without regard to letter case, and they have foreign
// keys to tables that are not on every shard. Both are told, and nothing is changed.
func refusals(t *testing.T, db *sql.DB) {
	t.Helper()
	for table, c := range map[string]struct{ owner, key string }{
		"comments": {"post_id", "comments_member_id_foreign"}, "posts_meta": {"post_id", "posts_meta_post_id_foreign"},
		"posts_tags": {"post_id", "posts_tags_tag_id_foreign"}, "members_labels": {"member_id", "members_labels_label_id_foreign"},
		"members_newsletters": {"member_id", "members_newsletters_newsletter_id_foreign"},
	} {
		text := "ALTER TABLE " + table + " COMMENT 'locus: owner=" + c.owner + "'"
		_, err := db.ExecContext(t.Context(), text)
		if err == nil {
			t.Errorf("%s: no error", text)
			continue
		}
		for _, says := range []string{"locus-1010", "column " + c.owner, "makes different spellings of an owner equal", "foreign key " + c.key + " refers to table ghost."} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q", text, err, says)
			}
		}
	}
	if said := column(t, db, "SELECT COALESCE(GROUP_CONCAT(TABLE_NAME), '') FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_COMMENT LIKE 'locus:%'"); said[0] != "" {
		t.Errorf("comments declare %s", said[0])
	}
}
