// Package secrecy searches logs, answers, process lists and etcd for secrets that must not be there.
//
// It owns how these are read. The test provides the secrets and what to search.
package secrecy

import (
	"bytes"
	"database/sql"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/config/etcd"
)

// Told contains the texts to search, by their source.
type Told map[string][]byte

// Look fails the test if a text contains a secret, or if a source has no text. Secrets are reported by their
// names.
func (told Told) Look(t *testing.T, secrets map[string][]byte) {
	t.Helper()
	for name, secret := range secrets {
		if len(secret) < 8 {
			t.Fatalf("%s has %d letters", name, len(secret))
		}
	}
	for where, text := range told {
		if len(text) == 0 {
			t.Errorf("nothing was looked at of: %s", where)
		}
		for name, secret := range secrets {
			if bytes.Contains(text, secret) {
				t.Errorf("%s tells %s", where, name)
			}
		}
	}
}

// paths are paths that a console answers, and some that it does not.
var paths = []string{
	"/", "/login", "/healthz", "/readyz", "/metrics", "/assets/page.js", "/v1/state", "/v1/history", "/v1/moves", "/v1/genes?weigh=1", "/v1/proposals?by=rows", "/v1/statements", "/v1/tables",
	"/v1/users", "/v1/generators", "/v1/routes", "/v1/findings", "/api/id/nothing", "/debug/pprof/goroutine?debug=2", "/nowhere",
}

// Login is the user of an HTTP request; empty: no login.
type Login struct{ User, Password string }

// Ask adds the answers of a console at url, including headers.
func (told Told) Ask(t *testing.T, client *http.Client, url string, logins ...Login) {
	t.Helper()
	for _, login := range logins {
		for _, path := range paths {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if login.User != "" {
				r.SetBasicAuth(login.User, login.Password)
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range answer.Header {
				body = append(body, (name + ": " + strings.Join(values, ", ") + "\n")...)
			}
			told["GET "+url+path] = append(told["GET "+url+path], body...)
		}
	}
}

// Query adds a query's rows, or its error.
func (told Told) Query(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		told[query] = []byte(err.Error())
		return
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(strings.Join(columns, "\t") + "\n")
	for rows.Next() {
		values, places := make([][]byte, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			t.Fatal(err)
		}
		text = append(append(text, bytes.Join(values, []byte("\t"))...), '\n')
	}
	told[query] = text
}

// Stored adds all of etcd that the client reaches below a prefix, keys and values.
func (told Told) Stored(t *testing.T, client *etcd.Client, prefix string) {
	t.Helper()
	pairs, _, err := client.Under(prefix).GetPrefix(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, p := range pairs {
		text = append(append(append(text, p.Key...), '='), append(p.Value, '\n')...)
	}
	told["etcd"] = text
}

// Arguments adds the command line of every process of this machine.
func (told Told) Arguments(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, f := range files {
		line, _ := os.ReadFile(f) // processes end
		text = append(append(text, line...), '\n')
	}
	told["the processes' arguments"] = text
}

// Logs adds every file below dir whose name ends in .log, and that isn't empty.
func (told Told) Logs(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		if len(text) > 0 {
			told[name] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
