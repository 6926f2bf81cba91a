package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// beforeTable compares two builds, round by round: it has rows with -before alone.
func (r *report) beforeTable() table {
	t := table{head: []string{"one shard, two builds", "statements/s before, now", "now ÷ before", "CPU µs before, now", "CPU now ÷ before"}}
	for _, c := range r.builds {
		before, now := find(c.measured, viaBefore), find(c.measured, viaLocus)
		t.rows = append(t.rows, []string{
			c.name,
			fmt.Sprintf("%.0f, %.0f", before.of(statements).median, now.of(statements).median),
			now.over(before, statements).format(3),
			fmt.Sprintf("%.2f, %.2f", before.of(hopCPU).median, now.of(hopCPU).median),
			now.over(before, hopCPU).format(3),
		})
	}
	return t
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// samples writes every round of both builds in the format of Go's benchmarks, for benchstat: DIR/before.txt and
// DIR/now.txt.
func (r *report) samples(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for file, via := range map[string]string{"before.txt": viaBefore, "now.txt": viaLocus} {
		var b strings.Builder
		for _, c := range r.builds {
			name := strings.Trim(notInNames.ReplaceAllString(c.name, "_"), "_")
			for _, s := range find(c.measured, via).samples {
				fmt.Fprintf(&b, "Benchmark%s 1 %.3f cpu-us/statement %.0f statements/s %.4f p99-ms\n", name, hopCPU(s), statements(s), p99(s))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(b.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}
