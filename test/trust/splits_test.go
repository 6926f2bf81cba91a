package trust

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/stmt"
)

// Several statements in one text are as many as the server finds.
func TestSoupsAreSplit(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		kettles, wait := heat(t, engine, values, func(k *kettle) error { return k.splitRound() })
		wait()
		report(t, engine, kettles, 40) // all soups of a text must be such as the server takes
	})
}

// splitRound compares a server's answers to texts of several soups with its answers to the pieces into which the proxy splits
// them.
func (k *kettle) splitRound() error {
	mode, c, err := k.prepare()
	if err != nil {
		return err
	}
	texts := make([]string, batch)
	for i := range texts {
		texts[i] = c.soup().String()
		for range 1 + k.rand.IntN(2) {
			texts[i] += some(c, separators) + c.soup().String()
		}
	}
	return k.compareSplits(texts, mode)
}

// separators are texts that separate two statements, or seem to.
var separators = []string{
	";", ";", "; ", " ;", "\n;\n", ";;", "; ;", ";/* ; */", ";-- ;\n", ";#;\n", "--;", "--\n;", ";\x00", "/*;*/;", "';", "/*!;*/", ";/*! */",
}

// compareSplits compares a server's answers to texts with its answers to the pieces into which the proxy splits them.
func (k *kettle) compareSplits(texts []string, mode stmt.Mode) error {
	var wholes []string
	var splits [][]string
	for _, text := range texts {
		k.cooked++
		pieces, refused := k.split(text, mode)
		if refused != nil {
			k.refused++
			k.refusals[why(refused)]++
			continue
		}
		wholes, splits = append(wholes, text), append(splits, pieces)
	}
	answers, err := k.pipe.ask(wholes...)
	if err != nil {
		return fmt.Errorf("%w; among %q", err, wholes)
	}
	all, err := k.pipe.ask(slices.Concat(splits...)...)
	if err != nil {
		return fmt.Errorf("%w; among %q", err, splits)
	}
	for i, whole := range answers {
		k.count(whole)
		parts := all[:len(splits[i])]
		all = all[len(splits[i]):]
		if sum := summed(parts); !sameUntilRefused(whole, sum, splits[i]) && len(k.differences) < enough {
			k.differences = append(k.differences, fmt.Sprintf("%s, %s, sql_mode %q: %q\n  server: %v\n  proxy splits it into %q: %v",
				k.engine, k.charset, k.mode, wholes[i], whole, splits[i], sum))
		}
	}
	return nil
}

// sameUntilRefused reports whether a server answers the pieces as it answers the whole text. It permits two differences. A
// server may refuse an empty statement between two semicolons, and the proxy continues. Whether character sets can be mixed
// depends on escapes, which the pieces don't have.
func sameUntilRefused(whole, sum said, pieces []string) bool {
	const syntax, empty = 1064, 1065
	if (whole.code == syntax || whole.code == empty) && whole.results < len(pieces) && (pieces[whole.results] == blankPiece || whole.code == empty) {
		return bytes.HasPrefix(sum.rows, whole.rows)
	}
	if slices.Contains(mixed, whole.code) {
		return bytes.HasPrefix(sum.rows, whole.rows)
	}
	if whole.code == empty {
		return bytes.Equal(sum.rows, whole.rows)
	}
	return sum.equal(whole)
}

// blankPiece replaces a piece that contains only blanks and comments.
const blankPiece = "/* */"

// split returns the canonical pieces of a text.
func (k *kettle) split(text string, mode stmt.Mode) (pieces []string, refused error) {
	l := &k.whole
	l.Lex([]byte(text), mode)
	if l.Conditional {
		l.Resolve(k.servers)
	}
	if l.Err != nil {
		return nil, l.Err
	}
	for rest := l.Text; len(rest) > 0; {
		end, next := stmt.First(rest, mode)
		canonical, refused := k.of(string(rest[:end]), mode, values)
		if errors.Is(refused, errNothing) {
			canonical, refused = blankPiece, nil
		}
		if refused != nil {
			return nil, refused
		}
		pieces = append(pieces, canonical)
		rest = rest[next:]
	}
	return pieces, nil
}

// summed combines several answers into one, up to the first error.
func summed(parts []said) (sum said) {
	var rows strings.Builder
	for _, p := range parts {
		rows.Write(p.rows)
		sum.results += p.results
		sum.columns += p.columns
		if p.code != 0 {
			sum.code, sum.message = p.code, p.message
			break
		}
	}
	sum.rows = []byte(rows.String())
	return sum
}
