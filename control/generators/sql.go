package generators

import (
	"context"
	"strings"

	"locus/router/cluster"
)

// Texts gives n of a generator's numbers or texts as they are. A statement may have
// more rows than are asked for at once.
func (s *Set) Texts(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	var all []string
	for {
		texts, err := s.Next(ctx, Request{Declared: declared, Name: name, Count: min(n-len(all), most), Context: values})
		if err != nil || len(all) == 0 && len(texts) == n {
			return texts, err
		}
		if all = append(all, texts...); len(all) == n {
			return all, nil
		}
	}
}

// Literals gives n of a generator's numbers or texts, as SQL spells them.
func (s *Set) Literals(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	texts, err := s.Texts(ctx, declared, name, n, values)
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
