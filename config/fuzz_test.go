package config_test

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"locus/config"
)

// An accepted file must be valid, and must be accepted again when it is written out.
func FuzzParse(f *testing.F) {
	f.Add([]byte(config.Reference()))
	f.Add([]byte("proxy: {max_statement: 3KiB, idle_timeout: 1h2m}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := config.Parse(text)
		if err != nil {
			return
		}
		written, err := yaml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := config.Parse(written); err != nil {
			t.Errorf("%q was accepted, and its own form isn't: %v\n%s", text, err, written)
		}
	})
}
