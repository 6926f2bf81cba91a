//go:build long

package demo

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/config/etcd"
)

// TestNoSecretIsTold runs a demo through what operators and attackers do, and looks
// for its secrets where none may be: logs, what commands print, etcd, process
// lists, answers over HTTP.
func TestNoSecretIsTold(t *testing.T) {
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			d := start(t, engine, t.TempDir(), "--orders-per-second", "5")
			secrets := d.secrets()
			if len(secrets) < 6 {
				t.Fatalf("only %d secrets are looked for", len(secrets))
			}
			told := d.beUsed()
			told["etcd"] = d.stored()
			told["the processes' arguments"] = arguments(t)
			d.stop()
			told["what the demo prints"] = d.output.Bytes()
			d.logs(told)
			for where, text := range told {
				for name, secret := range secrets {
					if bytes.Contains(text, secret) {
						t.Errorf("%s tells %s", where, name)
					}
				}
			}
			for _, where := range []string{"etcd", "the processes' arguments", "GET /metrics", "GET /", "logs/proxy-0.log", "SHOW PROCESSLIST"} {
				if len(told[where]) == 0 {
					t.Errorf("nothing was looked at of: %s", where)
				}
			}
		})
	}
}

// secrets is everything that nobody may be told, by name. The application's
// password is "app", which is no secret and too common a word.
func (d *demo) secrets() map[string][]byte {
	d.t.Helper()
	found := map[string][]byte{}
	root := filepath.Join(d.dir, "secrets")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "app" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		found["secret "+name] = bytes.TrimSpace(text)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	ring, err := os.ReadFile(filepath.Join(d.dir, "keys.yaml"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`key: "?([0-9a-f]{16,})`).FindAllSubmatch(ring, -1) {
		found["a key of order numbers"] = m[1]
	}
	for name, secret := range found {
		if len(secret) < 8 {
			d.t.Fatalf("%s has %d letters", name, len(secret))
		}
		if name == "secret http" { // as the basic login carries it
			found["the admin's login"] = []byte(base64.StdEncoding.EncodeToString([]byte("admin:" + string(secret))))
		}
	}
	return found
}

// beUsed does all kinds of things, and gives what was answered.
func (d *demo) beUsed() map[string][]byte {
	d.t.Helper()
	told := map[string][]byte{}
	d.must("split", "--from", "s0", "--to", "s2", "--half")
	d.until("ready", 0)
	for _, args := range [][]string{
		{"get"}, {"get", "shards"}, {"get", "users"}, {"jobs", "-o", "json"}, {"proxies", "list", "-o", "json"}, {"routes", "history"},
		{"config", "check"}, {"keys", "list"}, {"verify"}, {"hot"},
		{"split", "--from", "nowhere", "--to", "s2", "--half"}, {"jobs", "nobody"},
	} {
		out, _ := d.locus(args...)
		told["locus "+strings.Join(args, " ")] = []byte(out)
	}
	for _, query := range []string{"SHOW PROCESSLIST", "SHOW VARIABLES", "SELECT * FROM locus.shards", "SELECT * FROM locus.proxies", "SELECT 1 FROM nowhere.nothing"} {
		told[query] = d.rows(query)
	}
	for _, login := range []string{"", d.HTTP.Password, "wrong"} {
		for _, path := range []string{
			"/", "/login", "/healthz", "/readyz", "/metrics", "/weights", "/assets/live.js", "/api/id/nothing", "/debug/pprof/goroutine?debug=2", "/nowhere",
		} {
			r, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, d.HTTP.URL+path, nil)
			if err != nil {
				d.t.Fatal(err)
			}
			if login != "" {
				r.SetBasicAuth("admin", login)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				d.t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil {
				d.t.Fatal(err)
			}
			for name, values := range answer.Header {
				body = append(body, (name + ": " + strings.Join(values, ", ") + "\n")...)
			}
			told["GET "+path] = append(told["GET "+path], body...)
		}
	}
	return told
}

// rows is a query's answer or error, as text.
func (d *demo) rows(query string) []byte {
	d.t.Helper()
	rows, err := d.db().Query(query)
	if err != nil {
		return []byte(err.Error())
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		d.t.Fatal(err)
	}
	var text []byte
	for rows.Next() {
		values, places := make([][]byte, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		if err := rows.Scan(places...); err != nil {
			d.t.Fatal(err)
		}
		text = append(append(text, bytes.Join(values, []byte("\t"))...), '\n')
	}
	return text
}

// stored is all of etcd, keys and values.
func (d *demo) stored() []byte {
	d.t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: d.Etcd})
	if err != nil {
		d.t.Fatal(err)
	}
	defer client.Close()
	pairs, _, err := client.Under("/").GetPrefix(d.t.Context(), "")
	if err != nil {
		d.t.Fatal(err)
	}
	var text []byte
	for _, p := range pairs {
		text = append(append(append(text, p.Key...), '='), append(p.Value, '\n')...)
	}
	return text
}

// arguments is the command line of every process of this machine.
func arguments(t *testing.T) []byte {
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
	return text
}

func (d *demo) logs(told map[string][]byte) {
	d.t.Helper()
	err := filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".log" {
			return err
		}
		name, _ := filepath.Rel(d.dir, path)
		told[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}
