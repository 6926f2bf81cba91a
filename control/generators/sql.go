package generators

import (
	"context"
	"strings"

	"locus/idgen/gene"
	"locus/router/cluster"
)

// Texts returns n of a generator's numbers or texts. A statement may need more of them than one request
// returns. genes are those of the rows; nil if there are none.
func (s *Set) Texts(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string, genes []gene.Gene) ([]string, error) {
	var all []string
	for {
		request := Request{Declared: declared, Name: name, Count: min(n-len(all), most), Context: values}
		if genes != nil {
			request.Genes = genes[len(all) : len(all)+request.Count]
		}
		texts, err := s.Next(ctx, request)
		if err != nil || len(all) == 0 && len(texts) == n {
			return texts, err
		}
		if all = append(all, texts...); len(all) == n {
			return all, nil
		}
	}
}

// Literals returns n of a generator's numbers or texts as SQL literals.
func (s *Set) Literals(ctx context.Context, declared *cluster.Cluster, name string, n int, values map[string]string) ([]string, error) {
	texts, err := s.Texts(ctx, declared, name, n, values, nil)
	if err != nil || declared.Generators[name].Kind != cluster.FormatGenerator {
		return texts, err
	}
	for i, text := range texts {
		// The meaning of a backslash depends on sql_mode. A hexadecimal literal means the same in every mode.
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
