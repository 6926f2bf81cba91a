package failover

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Recorded failovers of real servers are decided again as they were. The tests of test/switchover record them with -update.
func TestRecordedFailovers(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	promotions := 0
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			now, then, err := Replay(readEntries(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(now, then) {
				for i := range max(len(now), len(then)) {
					if i >= len(now) || i >= len(then) || now[i] != then[i] {
						t.Fatalf("poll %d of %d and %d: decided %q, and %q when it was recorded", i+1, len(now), len(then), at(now, i), at(then, i))
					}
				}
			}
			for i, d := range now {
				if strings.HasPrefix(d, "promote") && (i == 0 || !strings.HasPrefix(now[i-1], "promote")) {
					promotions++
				}
			}
		})
	}
	if promotions < 10 {
		t.Errorf("%d files with %d promotions", len(files), promotions)
	}
}

// A trace from the middle can't be decided again.
func TestReplayNeedsTheBeginning(t *testing.T) {
	if _, _, err := Replay([]Entry{{decidedEntry, "nothing"}}); err == nil {
		t.Error("it is accepted")
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing more"
}

func readEntries(t *testing.T, file string) (entries []Entry) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		entries = append(entries, Entry{name, value})
	}
	return entries
}
