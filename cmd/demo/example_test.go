package demo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The example of three proxies has the demo's tables, as written for a client.
func TestTheExampleHasTheDemosTables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "three-proxies", "shards.sql"))
	if err != nil {
		t.Fatal(err)
	}
	plain := func(sql string) string { return strings.Join(strings.Fields(sql), " ") }
	example := plain(string(text))
	for _, sql := range slices.Concat(everywhere, onFirst) {
		want := plain(strings.NewReplacer("IF NOT EXISTS ", "", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", "").Replace(sql)) + ";"
		if !strings.Contains(example, want) {
			t.Errorf("shards.sql lacks %s", want)
		}
	}
}
