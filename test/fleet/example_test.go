package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locus/internal/test/process"
)

// example is the directory of deploy/three-proxies, filled in for this machine.
type example struct {
	dir     string
	ports   map[string]string // where machines of the example listen: on loopback
	secrets map[string]string // by the paths of their files
}

func newExample(t *testing.T) *example {
	t.Helper()
	e := &example{dir: t.TempDir(), ports: map[string]string{}, secrets: map[string]string{}}
	files, err := filepath.Glob("../../deploy/three-proxies/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("the example: %d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e.write(t, filepath.Base(file), e.fill(t, filepath.Base(file), string(text)))
	}
	return e
}

var (
	address = regexp.MustCompile(`10\.0\.0\.\d+:\d+`)
	machine = regexp.MustCompile(`10\.0\.0\.\d+(\$i)?`) // certificates.sh counts them
)

// fill puts addresses and paths of this machine in.
func (e *example) fill(t *testing.T, file, text string) string {
	text = address.ReplaceAllStringFunc(text, func(a string) string { return e.at(t, a) })
	text = machine.ReplaceAllString(text, "127.0.0.1")
	for _, path := range []string{"/etc/locus", "/etc/etcd", "/etc/mysql"} {
		text = strings.ReplaceAll(text, path, e.dir)
	}
	for _, i := range machines[1:] { // the machines' files are apart
		if file == fmt.Sprintf("locus-%d.yaml", i) {
			text = strings.ReplaceAll(text, "keys.yaml", keyFile(i))
		}
	}
	state := filepath.Join(e.dir, "state", strings.TrimSuffix(file, filepath.Ext(file)))
	text = strings.ReplaceAll(text, "/var/lib", state)
	return text
}

// at returns the address that replaces an address of the example.
func (e *example) at(t *testing.T, address string) string {
	t.Helper()
	if e.ports[address] == "" {
		e.ports[address] = process.FreeAddr(t)
	}
	return e.ports[address]
}

func (e *example) path(name string) string { return filepath.Join(e.dir, filepath.FromSlash(name)) }

func (e *example) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(e.path(name)), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(e.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// address returns the address of a machine of the example, by the last part of its IP address.
func (e *example) address(machine, port int) string {
	return e.ports[fmt.Sprintf("10.0.0.%d:%d", machine, port)]
}

// proxy is a proxy's address for clients, page its address for HTTP.
func (e *example) proxy(i int) string { return e.address(10+i, 4306) }
func (e *example) page(i int) string  { return "https://" + e.address(10+i, 8306) }

// serverOptions reads a server's file as options of a command line.
func (e *example) serverOptions(t *testing.T, file string, machine int) []string {
	t.Helper()
	text := e.read(t, file)
	_, port, _ := strings.Cut(e.address(machine, 3306), ":")
	options := []string{"--port=" + port}
	for line := range strings.Lines(text) {
		if name, value, is := strings.Cut(strings.TrimSpace(line), " = "); is {
			options = append(options, "--"+name+"="+value)
		}
	}
	return options
}

// statements reads a file of SQL, one statement after the other.
func (e *example) statements(t *testing.T, file, shard string) (statements []string) {
	t.Helper()
	text := e.read(t, file)
	comment := regexp.MustCompile(`(?m)^--.*$`)
	whole := strings.NewReplacer("PASSWORD", e.secrets["secrets/shards/"+shard], "ROLES", e.secrets["secrets/shards/"+shard+"-admin"]).Replace(comment.ReplaceAllString(text, ""))
	for _, s := range strings.Split(whole, ";\n") {
		if s = strings.TrimSpace(s); s != "" {
			statements = append(statements, s)
		}
	}
	return statements
}

// remember reads the secrets that secrets.sh has generated.
func (e *example) remember(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"etcd-root", "secrets/etcd", "secrets/http", "secrets/http-vera", "secrets/shards/s0", "secrets/shards/s1", "secrets/shards/s2",
		"secrets/shards/s0-admin", "secrets/shards/s1-admin", "secrets/shards/s2-admin", "secrets/users/app",
	} {
		e.secrets[name] = strings.TrimSpace(e.read(t, name))
	}
	for i, m := range regexp.MustCompile(`key: ([0-9a-f]{16,})`).FindAllStringSubmatch(e.read(t, "keys.yaml"), -1) {
		e.secrets[fmt.Sprintf("key %d of order numbers", i)] = m[1]
	}
	keys, err := filepath.Glob(e.path("tls/*.key"))
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d keys of certificates, %v", len(keys), err)
	}
	for _, key := range keys {
		name, _ := filepath.Rel(e.dir, key)
		e.secrets[name] = strings.Split(e.read(t, name), "\n")[1] // below -----BEGIN PRIVATE KEY-----
	}
}

func (e *example) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(e.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
