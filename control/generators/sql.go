package generators

import (
	"context"
	"strings"

	"locus/router/cluster"
)

// Texts gives n of a generator's numbers or texts as they are.
func (s *Set) Texts(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	return s.Next(ctx, Request{Declared: declared, Name: name, Count: n, Context: values})
}

// Literals gives n of a generator's numbers or texts, as SQL spells them.
func (s *Set) Literals(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	texts, err := s.Next(ctx, Request{Declared: declared, Name: name, Count: n, Context: values})
	if err != nil || declared.Generators[name].Kind != cluster.FormatGenerator {
		return texts, err
	}
	for i, text := range texts {
		// A backslash means itself or the next character, as sql_mode has it; hex
		// means itself in every mode.
		if strings.ContainsAny(text, "'\\") {
			texts[i] = "_utf8mb4 X'" + hexOf(text) + "'"
			continue
		}
		texts[i] = "'" + text + "'"
	}
	return texts, nil
}

func hexOf(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(digits[text[i]>>4])
		b.WriteByte(digits[text[i]&15])
	}
	return b.String()
}
