package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"locus/config"
	"locus/config/strict"
)

func TestReferenceIsTheDefaults(t *testing.T) {
	c := new(config.Config)
	if err := strict.Decode([]byte(config.Reference()), c); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c, config.Default()) {
		t.Errorf("reference.yaml says\n%+v\nand Default()\n%+v", c, config.Default())
	}
	if err := config.Default().Validate(); err != nil {
		t.Errorf("the defaults don't validate: %v", err)
	}
}

// A field that the reference omits would pass above if its default is zero, so the fields are counted as well.
func TestReferenceNamesEveryField(t *testing.T) {
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(config.Reference()), &fields); err != nil {
		t.Fatal(err)
	}
	var check func(path string, typ reflect.Type, fields map[string]any)
	check = func(path string, typ reflect.Type, fields map[string]any) {
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("yaml")
			value, ok := fields[name]
			if !ok {
				t.Errorf("reference.yaml doesn't say %s%s", path, name)
			}
			if sub := typ.Field(i).Type; sub.Kind() == reflect.Struct && ok {
				check(path+name+".", sub, value.(map[string]any))
			}
		}
	}
	check("", reflect.TypeFor[config.Config](), fields)
}

func TestParse(t *testing.T) {
	c, err := config.Parse([]byte(`
cluster: shop
etcd: {endpoints: [10.0.0.1:2379, 10.0.0.2:2379]}
proxy:
  idle_timeout: 90m
  max_statement: 256MiB
  max_packet_before_login: 8192
http:
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Prefix(); got != "/locus/shop/" {
		t.Errorf("prefix %q", got)
	}
	if got := c.Proxy.IdleTimeout.Std().Minutes(); got != 90 {
		t.Errorf("idle_timeout %v min", got)
	}
	if c.Proxy.MaxStatement != 256<<20 || c.Proxy.MaxPacketBeforeLogin != 8192 {
		t.Errorf("sizes %d and %d", c.Proxy.MaxStatement, c.Proxy.MaxPacketBeforeLogin)
	}
	if want := config.Default().HTTP; !reflect.DeepEqual(c.HTTP, want) {
		t.Errorf("an empty section is %+v, not the defaults %+v", c.HTTP, want)
	}
	if len(c.Etcd.Endpoints) != 2 {
		t.Errorf("endpoints %q aren't the file's alone", c.Etcd.Endpoints)
	}
}

func TestEmptyFileIsTheDefaults(t *testing.T) {
	c, err := config.Parse([]byte("\n"))
	if err != nil || !reflect.DeepEqual(c, config.Default()) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestParseRefusals(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{
			"every unknown field with its line",
			"cluster: a\nproxie: {}\nproxy:\n  lisen: x\n",
			"line 2: unknown field \"proxie\": did you mean proxy?\nline 4: unknown field \"lisen\": did you mean listen?",
		},
		{"a field twice", "cluster: a\ncluster: b\n", `line 2: mapping key "cluster" already defined at line 1`},
		{"a second document", "cluster: a\n---\ncluster: b\n", "line 2: a second document begins here; only one is read"},
		{
			"a duration without a unit", "proxy:\n  idle_timeout: 0\n",
			"line 2: \"0\" isn't a duration: write a number and a unit, such as 500ms, 5s, 10m or 8h",
		},
		{"no YAML", "cluster: [a\n", "line 2: did not find expected ',' or ']'"},
		{
			"wrong kinds, all at once",
			"proxy:\n  max_connections: many\n  idle_timeout: 5\n  max_statement: 1.5MiB\nhttp: 3\n",
			"line 2: text `many`, where a whole number is expected\n" +
				"line 3: \"5\" isn't a duration: write a number and a unit, such as 500ms, 5s, 10m or 8h\n" +
				"line 4: \"1.5MiB\" isn't a size: write a whole number of bytes, or one with KiB, MiB or GiB\n" +
				"line 5: a whole number `3` is not expected here",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Parse([]byte(test.text))
			if err == nil || err.Error() != test.want {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

// Each line breaks one field; all must be reported by one call.
func TestValidateReportsAllAtOnce(t *testing.T) {
	text := `
cluster: Shop!
data_dir: ""
etcd:
  endpoints: [nowhere, "https://h:1", "ftp://h:1", "http://h:2"]
  username: u
  tls: {cert: c}
  dial_timeout: 0s
proxy:
  listen: ":4306"
  advertise: here
  tls: {key: k}
  max_connections: 0
  max_packet_before_login: 1
  max_statement: 2GiB
  connect_timeout: -1s
  idle_timeout: 0s
  transactions: both
http: {listen: "0.0.0.0:99999", user: "", tls: {cert: c}, accounts: [{user: a, role: viewer, secret: a}, {user: a, role: root, secret: ../a}]}
backends:
  max_connections_per_shard: 0
  wait_timeout: 0s
  connect_timeout: 0s
  idle_timeout: 0s
snowflake: {workers: 9-1024, reuse: host, claim: 1s}
ids: {listen: "0.0.0.0:8080", allow: [everybody]}
log: {format: xml, level: loud}
`
	_, err := config.Parse([]byte(text))
	if err == nil {
		t.Fatal("accepted")
	}
	got := fieldsOf(err)
	want := []string{
		"cluster", "data_dir",
		"etcd.endpoints[0]", "etcd.endpoints[2]", "etcd.endpoints", "etcd.endpoints",
		"etcd.username", "etcd.tls", "etcd.dial_timeout",
		"proxy.listen", "proxy.advertise", "proxy.tls", "proxy.max_connections", "proxy.max_packet_before_login",
		"proxy.max_statement", "proxy.connect_timeout", "proxy.idle_timeout", "proxy.transactions",
		"http.listen", "http.user", "http.tls", "http.accounts[1].user", "http.accounts[1].role", "http.accounts[1].secret",
		"backends.max_connections_per_shard", "backends.wait_timeout",
		"backends.connect_timeout", "backends.idle_timeout", "snowflake.workers", "snowflake.reuse", "snowflake.claim", "ids.allow", "log.format", "log.level",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%q\nwant\n%q\nin\n%v", got, want, err)
	}
}

func TestNoEndpoints(t *testing.T) {
	_, err := config.Parse([]byte("etcd: {endpoints: []}"))
	if err == nil || !strings.HasPrefix(err.Error(), "etcd.endpoints: name at least one") {
		t.Errorf("got %v", err)
	}
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "locus.yaml")
	if _, err := config.Load(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "configuration " + path + `: line 1: unknown field "nonsense"`
	if _, err := config.Load(path); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCheckFilesReportsAllAtOnce(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Secrets.Dir = dir
	c.Etcd.PasswordFile, c.Etcd.TLS.CA, c.KeyRing = filepath.Join(dir, "a"), there, filepath.Join(dir, "b")
	err := c.CheckFiles()
	if err == nil || !reflect.DeepEqual(fieldsOf(err), []string{"etcd.password_file", "key_ring"}) {
		t.Errorf("got %v", err)
	}
}

func fieldsOf(err error) []string {
	var fields []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z_.\[\]0-9]+): `).FindAllStringSubmatch(err.Error(), -1) {
		fields = append(fields, m[1])
	}
	return fields
}

// A port without a login may be reachable from other machines only for named networks, and only in a process
// that serves numbers.
func TestIDsWithoutALogin(t *testing.T) {
	for text, want := range map[string]string{
		`ids: {listen: "127.0.0.1:8080"}`:                                         "",
		`ids: {listen: "10.0.0.1:8080", allow: ["10.1.0.0/16", 10.2.0.1, "::1"]}`: "",
		`ids: {listen: "10.0.0.1:8080"}`:                                          "ids.allow: needed because ids.listen 10.0.0.1:8080 isn't a loopback address",
		`ids: {listen: "10.0.0.1:8080", allow: [10.1]}`:                           `ids.allow: "10.1": write a network such as 10.1.0.0/16`,
		`ids: {listen: "127.0.0.1:8080", tls: {cert: a}}`:                         "ids.tls: cert and key go together",
		`ids: {listen: "127.0.0.1:8080", tls: {cert: a, key: b}}`:                 "",
		`ids: {listen: "10.0.0.1"}`:                                               "ids.listen",
		"roles: [proxy]\nids: {listen: \"127.0.0.1:8080\"}":                       "ids.listen: this process does not have the role ids",
		"roles: [ids]\nhttp: {listen: \"\"}\nids: {listen: \"127.0.0.1:8080\"}":   "",
	} {
		c, err := config.Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil || len(c.IDs.Allow) == 0 {
			continue
		}
		networks, err := c.IDs.Networks()
		if err != nil || len(networks) != 3 || networks[1].String() != "10.2.0.1/32" || networks[2].String() != "::1/128" {
			t.Errorf("%s: %v, %v", text, networks, err)
		}
	}
}
