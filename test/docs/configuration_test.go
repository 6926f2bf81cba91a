package docs

import (
	"strings"
	"testing"

	"locus/internal/test/golden"
)

const configurationDocument = "docs/reference/locus.yaml.md"

// The page about locus.yaml contains the reference file as it is.
func TestConfigurationReference(t *testing.T) {
	page := read(t, configurationDocument)
	head, rest, begins := strings.Cut(page, "```yaml\n")
	_, tail, ends := strings.Cut(rest, "```\n<!-- end -->")
	if !begins || !ends {
		t.Fatalf("%s has no block that ends with <!-- end -->", configurationDocument)
	}
	want := head + "```yaml\n" + read(t, "config/reference.yaml") + "```\n<!-- end -->" + tail
	if page != want && !golden.Update(t, "../../"+configurationDocument, want) {
		t.Errorf("%s is not config/reference.yaml: go test ./test/docs -run TestConfigurationReference -update", configurationDocument)
	}
}
