package docs

import (
	"regexp"
	"testing"
)

// Documents name no alert that does not exist.
func TestAlertsThatAreNamedExist(t *testing.T) {
	there := map[string]bool{}
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(contents(t, deployed(t, "prometheus/alerts.yaml")[0]), -1) {
		there[m[1]] = true
	}
	for _, path := range documents(t) {
		for _, name := range regexp.MustCompile(`\bLocus[A-Z][A-Za-z]+\b`).FindAllString(read(t, path), -1) {
			if !there[name] {
				t.Errorf("%s names the alert %s, which does not exist", path, name)
			}
		}
	}
}
