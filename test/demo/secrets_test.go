//go:build long

package demo

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/cmd/dbserver"
	"locus/config/etcd"
	"locus/test/secrecy"
)

// TestNoSecretIsTold runs a demo with the usual actions of operators and attackers, and searches for its secrets in logs,
// output of commands, etcd, process lists and HTTP answers.
func TestNoSecretIsTold(t *testing.T) {
	for _, engine := range dbserver.Engines() {
		t.Run(string(engine), func(t *testing.T) {
			d := start(t, engine, t.TempDir(), "--orders-per-second", "5")
			secrets := d.secrets()
			if len(secrets) < 6 {
				t.Fatalf("only %d secrets are looked for", len(secrets))
			}
			told := d.beUsed()
			client, err := etcd.Open(etcd.Config{Endpoints: d.Etcd})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			told.Stored(t, client, "/")
			told.Arguments(t)
			d.stop()
			told.Logs(t, filepath.Dir(d.program.Log)) // the demo's output
			told.Logs(t, d.dir)
			if len(told["logs/proxy-0.log"]) == 0 {
				t.Error("the proxy has no log")
			}
			told.Look(t, secrets)
		})
	}
}

// secrets contains everything that must not be shown to anybody, by name. The application's password "app" is
// left out: it is too common a word, and not a secret.
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
		if name == "secret http" { // as it is in the header of basic authentication
			found["the admin's login"] = []byte(base64.StdEncoding.EncodeToString([]byte("admin:" + string(secret))))
		}
	}
	return found
}

// beUsed uses the demo in many ways, and returns all answers.
func (d *demo) beUsed() secrecy.Told {
	d.t.Helper()
	told := secrecy.Told{}
	d.must("split", "--from", "s0", "--to", "s2", "--half")
	d.until("ready", 0)
	for _, args := range [][]string{
		{"get"},
		{"get", "shards"},
		{"get", "users"},
		{"jobs", "-o", "json"},
		{"proxies", "list", "-o", "json"},
		{"routes", "history"},
		{"config", "check"},
		{"keys", "list"},
		{"verify"},
		{"hot"},
		{"split", "--from", "nowhere", "--to", "s2", "--half"},
		{"jobs", "nobody"},
	} {
		out, _ := d.locus(args...)
		told["locus "+strings.Join(args, " ")] = []byte(out)
	}
	for _, query := range []string{"SHOW PROCESSLIST", "SHOW VARIABLES", "SELECT * FROM locus.shards", "SELECT * FROM locus.proxies", "SELECT 1 FROM nowhere.nothing"} {
		told.Query(d.t, d.db(), query)
	}
	told.Ask(d.t, http.DefaultClient, d.HTTP.URL, secrecy.Login{}, secrecy.Login{User: "admin", Password: d.HTTP.Password}, secrecy.Login{User: "admin", Password: "wrong"})
	return told
}
