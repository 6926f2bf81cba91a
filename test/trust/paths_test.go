package trust

import (
	"regexp"
	"strings"
	"testing"

	"locus/proxy/sysvars"
	"locus/test/shop"
)

// located matches values that contain a path or the name of a file.
var located = regexp.MustCompile(`/|\.(pem|log|err|pid|cnf|ibd|sock)$`)

// notLocated are variables whose values look like paths but are not.
const notLocated = " time_zone system_time_zone init_connect version_compile_machine ssl_cipher tls_version server_uid version_comment "

// Users with limited rights must not see the paths of a shard's files and keys. The test finds variables of new
// server versions by their values.
func TestPathsAreHiddenFromUsersWithBounds(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, user := range []string{"narrow", "database", "app"} {
			account := login{s.Addr, user, password, s.Schema}
			if user == "app" {
				account = login{s.Addr, shop.User, shop.Password, s.Schema}
			}
			c := account.open(t, user)
			seen := 0
			for _, list := range []string{"SHOW VARIABLES", "SHOW GLOBAL VARIABLES"} {
				for _, row := range answered(t, c, list) {
					name, value, _ := strings.Cut(strings.ReplaceAll(row, `"`, ""), "|")
					if !located.MatchString(value) || strings.Contains(notLocated, " "+name+" ") {
						continue
					}
					seen++
					if user != "app" {
						t.Errorf("%s finds by %s that %s is %s", user, list, name, value)
					} else if !sysvars.HidesPath(name) {
						t.Errorf("%s is %s, and is not hidden from users with bounds", name, value)
					}
				}
			}
			if user == "app" && seen < 10 {
				t.Errorf("only %d variables say where something lies", seen)
			}
			for _, name := range []string{"@@datadir", "@@global.ssl_key", "@@GLOBAL.`plugin_dir`"} {
				if value := answered(t, c, "SELECT "+name)[0]; user != "app" && value != `""` {
					t.Errorf("%s reads that %s is %s", user, name, value)
				}
			}
		}
		s.try(t, attack{name: "bounded, files of tables", user: "narrow", refused: []string{"#1142"}, say: []string{"SELECT * FROM information_schema.INNODB_TABLESPACES"}},
			attack{name: "bounded, variables' origins", on: "mysql", user: "database", refused: []string{"#1142", "1008"}, say: []string{"SELECT VARIABLE_PATH FROM performance_schema.variables_info"}},
			attack{name: "bounded, variables' values", on: "mariadb", user: "database", refused: []string{"#1142"}, say: []string{"SELECT GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES"}})
	})
}

// answered returns the rows of a query's only result, with values separated by |.
func answered(t *testing.T, c *session, text string) []string {
	t.Helper()
	a := c.say(text)
	if a.err != nil || len(a.results) != 1 || len(a.results[0].rows) == 0 {
		t.Fatalf("%s: %+v", text, a)
	}
	return a.results[0].rows
}
