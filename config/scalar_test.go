package config_test

import (
	"testing"

	"pgregory.net/rapid"

	"locus/config"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]config.Size{
		"0": 0, "512": 512, "7B": 7, "16KiB": 16 << 10, "64MiB": 64 << 20, "1GiB": 1 << 30, "3 MiB": 3 << 20,
	} {
		if got, err := config.ParseSize(text); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "1.5MiB", "1MB", "1mib", "8589934592GiB", "9223372036854775808"} {
		if got, err := config.ParseSize(text); err == nil {
			t.Errorf("%q accepted as %d", text, got)
		}
	}
}

func TestSizeReadsWhatItWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := config.Size(rapid.Int64Min(0).Draw(t, "size") &^ (1<<rapid.IntRange(0, 40).Draw(t, "zeros") - 1))
		if got, err := config.ParseSize(size.String()); err != nil || got != size {
			t.Fatalf("%d writes %q, which reads %d, %v", size, size, got, err)
		}
	})
}
