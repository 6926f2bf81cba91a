package config_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"locus/config"
)

func TestChanges(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"", "", ""},
		{"", "log: {level: debug}\nproxy: {slow_statement: 200ms}\n", "proxy.slow_statement+ log.level+"},
		{"", "proxy: {listen: 127.0.0.1:4000}\netcd: {endpoints: [\"a:1\"]}\n", "etcd.endpoints- proxy.listen-"},
		{"proxy: {tls: {cert: a, key: b}}\n", "proxy: {tls: {cert: c, key: d}}\n", "proxy.tls.cert+ proxy.tls.key+"},
		{"", "proxy: {tls: {cert: c, key: d}}\n", "proxy.tls.cert- proxy.tls.key-"},
		{"http: {tls: {cert: c, key: d}}\n", "", "http.tls.cert- http.tls.key-"},
		{"ids: {tls: {cert: a, key: b}}\n", "ids: {tls: {cert: c, key: d}}\n", "ids.tls.cert+ ids.tls.key+"},
		{"", "ids: {tls: {cert: c, key: d}}\n", "ids.tls.cert- ids.tls.key-"},
		{"", "http: {accounts: [{user: ann, role: viewer, secret: http/ann}]}\n", "http.accounts-"},
	} {
		var got []string
		for _, change := range parsed(t, c.before).Changes(parsed(t, c.after)) {
			got = append(got, change.Field+map[bool]string{true: "+", false: "-"}[change.Reloads])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q to %q: %v, want %s", c.before, c.after, got, c.want)
		}
	}
}

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every name in the list of reloadable fields is a field, and the reference marks it so.
func TestReloadableFieldsAreFields(t *testing.T) {
	var reference map[string]any
	if err := yaml.Unmarshal([]byte(config.Reference()), &reference); err != nil {
		t.Fatal(err)
	}
	for _, field := range config.Reloadable() {
		var at any = reference
		for part := range strings.SplitSeq(field, ".") {
			level, _ := at.(map[string]any)
			var there bool
			if at, there = level[part]; !there {
				t.Errorf("%s is no field", field)
			}
		}
	}
}
