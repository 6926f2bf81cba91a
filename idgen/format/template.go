package format

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Sequence returns the next number of a scope. Each scope has its own counter.
type Sequence func(ctx context.Context, scope Scope) (uint64, error)

// Scope identifies the counter of a number. It is the zero value for a sequence that has only one counter.
type Scope struct {
	Period string // the time at which the sequence restarts, as its layout shows it
	Key    string // the values that have a counter of their own, see fold; tabs separate them
}

// Template is a parsed template. It is immutable and safe for concurrent use.
type Template struct {
	text   string
	pieces []piece
	order  []int // of pieces, by stage
	max    int
}

type piece struct {
	literal string
	part    *Part
	name    string
	rest    string // the argument after the name
}

// Parse reads a template of literal text and {part} or {part:argument}. It refuses templates that could generate equal
// strings: without a sequence, or with one that restarts while the text doesn't show when.
func Parse(text string, r Registry) (*Template, error) {
	t := &Template{text: text}
	for rest := text; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return nil, fmt.Errorf("template %q: a } without a {", text)
		}
		if literal != "" {
			t.pieces = append(t.pieces, piece{literal: literal})
			t.max += len(literal)
		}
		if !found {
			break
		}
		body, after, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("template %q: a { without a }", text)
		}
		name, argument, _ := strings.Cut(body, ":")
		part, err := r.part(name, argument)
		if err != nil {
			return nil, fmt.Errorf("template %q: %w", text, err)
		}
		t.pieces = append(t.pieces, piece{part: &part, name: name, rest: argument})
		t.max += part.Max
		rest = after
	}
	for i := range t.pieces {
		t.order = append(t.order, i)
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return cmp.Compare(t.stage(a), t.stage(b)) })
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("template %q: %w", text, err)
	}
	return t, nil
}

func (t *Template) stage(i int) Stage {
	if t.pieces[i].part == nil {
		return Given
	}
	return t.pieces[i].part.Stage
}

// check refuses templates that could generate equal strings.
func (t *Template) check() error {
	at := -1
	for i, p := range t.pieces {
		switch {
		case p.part == nil || !p.part.Unique:
		case at >= 0:
			return errors.New("it has 2 sequences: one makes its strings distinct")
		default:
			at = i
		}
	}
	if at < 0 {
		return errors.New("it has 0 sequences: one makes its strings distinct")
	}
	if !t.readable(at) {
		return errors.New("where the sequence begins or ends can't be told from a string, so two could be equal: " +
			"give it digits, and parts of any length on one side only")
	}
	if err := t.checkRefers(); err != nil {
		return err
	}
	if err := t.checkKeys(at); err != nil {
		return err
	}
	return t.checkScope(at)
}

// checkRefers refuses calculations from parts that don't exist, or that are calculated too.
func (t *Template) checkRefers() error {
	parts := t.parts()
	for _, p := range t.pieces {
		if p.part == nil {
			continue
		}
		for _, n := range p.part.refers {
			switch {
			case n > len(parts):
				return fmt.Errorf("part %s: part%d: the template has %d parts", p.name, n, len(parts))
			case t.stage(parts[n-1]) == Calculated:
				return fmt.Errorf("part %s: part%d is calculated too", p.name, n)
			case !t.pieces[parts[n-1]].numeric():
				return fmt.Errorf("part %s: part%d, {%s}, has other characters than digits", p.name, n, t.pieces[parts[n-1]].name)
			}
		}
	}
	return nil
}

// numeric reports whether a part can have decimal digits alone.
func (p piece) numeric() bool {
	return p.name != "gene" && (p.part.Unique || !strings.ContainsAny(p.part.Scope, timeLiterals))
}

// parts returns the pieces that are parts.
func (t *Template) parts() (list []int) {
	for i, p := range t.pieces {
		if p.part != nil {
			list = append(list, i)
		}
	}
	return list
}

// textsOf returns the texts of the parts, given the texts of all pieces.
func (t *Template) textsOf(texts []string) (parts []string) {
	for _, i := range t.parts() {
		parts = append(parts, texts[i])
	}
	return parts
}

// checkKeys refuses a sequence with a counter for each value if a text doesn't determine the value: two values could have the
// same text.
func (t *Template) checkKeys(at int) error {
	keys := t.pieces[at].part.Keys
	if len(keys) == 0 {
		return nil
	}
	shown, varying := map[string]bool{}, 0
	for i, p := range t.pieces {
		if i != at && !p.fixed() {
			varying++
		}
		if p.name == "context" {
			shown[p.contextName()] = true
		}
	}
	for _, key := range keys {
		if !shown[key] {
			return fmt.Errorf("its sequence is counted for each %[1]s, and the text does not show %[1]s: add it as {context:%[1]s:…}", key)
		}
	}
	if varying > 1 {
		return fmt.Errorf("its sequence is counted for each %s, and where that begins or ends can't be told from a text with %d parts of any length: "+
			"give all but one a fixed length, such as {context:%s:4,exact}", strings.Join(keys, " and "), varying, keys[0])
	}
	return nil
}

// contextName returns the name of the value that a context part shows.
func (p piece) contextName() string {
	name, _, _ := strings.Cut(p.rest, ":")
	return name
}

// readable reports whether the piece can be found in a string, counting from either end.
func (t *Template) readable(i int) bool {
	before, after := t.pieces[:i], t.pieces[i+1:]
	ownLength := t.pieces[i].fixed()
	return fixed(before) && (ownLength || len(after) == 0 || !digitAt(after[0].literal, 0)) ||
		fixed(after) && (ownLength || len(before) == 0 || !digitAt(before[i-1].literal, len(before[i-1].literal)-1))
}

func fixed(pieces []piece) bool {
	for _, p := range pieces {
		if !p.fixed() {
			return false
		}
	}
	return true
}

func (p piece) fixed() bool { return p.part == nil || p.part.Fixed }

// digitAt also returns true for parts, which may begin or end with a digit.
func digitAt(literal string, i int) bool {
	return literal == "" || literal[i] >= '0' && literal[i] <= '9'
}

// checkScope refuses a sequence that restarts while the text doesn't show when.
func (t *Template) checkScope(at int) error {
	per := t.pieces[at].part.Scope
	if per == "" {
		return nil
	}
	if !strings.Contains(per, "yy") {
		return fmt.Errorf("its sequence starts again for each %[1]s, and the same %[1]s occurs again: begin with the year", per)
	}
	shown := ""
	for i, p := range t.pieces {
		if i != at && p.part != nil && p.part.Zone == t.pieces[at].part.Zone && t.readable(i) {
			shown += p.part.Scope
		}
	}
	for _, token := range tokens {
		if strings.Contains(strings.ReplaceAll(per, "yyyy", "yy"), token.token) && !strings.Contains(shown, token.token) {
			return fmt.Errorf("its sequence starts again for each %s, and the text does not show %s in a form that can be read: add it as {time:…}", per, token.token)
		}
	}
	return nil
}

// Scoped reports whether the sequence has several counters: one for each period, each value, or both.
func (t *Template) Scoped() bool {
	return t.Sequence().Scope != "" || t.Keyed()
}

// Keyed reports whether the sequence has a counter for each value of the context.
func (t *Template) Keyed() bool { return len(t.Sequence().Keys) > 0 }

// Sequence returns the part that makes the strings unique.
func (t *Template) Sequence() Part { return *t.pieces[t.unique()].part }

// OfOwner returns the name of a part that needs an owner, or "".
func (t *Template) OfOwner() string {
	for _, p := range t.pieces {
		if p.part != nil && p.part.OfOwner {
			return p.name
		}
	}
	return ""
}

// GeneAt returns the position, from 0, of the gene in every text, and how many digits it has. shown is false if no part shows
// the gene in a place that is the same in all texts.
func (t *Template) GeneAt() (at, digits int, shown bool) {
	for _, p := range t.pieces {
		switch {
		case p.name == "gene" && p.part.Fixed:
			return at, p.part.Max, true
		case !p.fixed():
			return 0, 0, false
		case p.part == nil:
			at += len(p.literal)
		default:
			at += p.part.Max
		}
	}
	return 0, 0, false
}

// unique returns the index of that part. A template has exactly one.
func (t *Template) unique() int {
	return slices.IndexFunc(t.pieces, func(p piece) bool { return p.part != nil && p.part.Unique })
}

// Max returns the length of the longest string, in bytes.
func (t *Template) Max() int { return t.max }

// String returns the template's text.
func (t *Template) String() string { return t.text }

// Make generates a string. After an error there is none, and a number of the sequence may be used up.
func (t *Template) Make(ctx context.Context, next Sequence, v Values) (string, error) {
	var few [8]string // avoids an allocation for up to 8 parts
	texts := few[:0]
	for range t.pieces {
		texts = append(texts, "")
	}
	v.next = next
	for _, i := range t.order {
		p := t.pieces[i]
		if p.part == nil {
			texts[i] = p.literal
			continue
		}
		if len(p.part.refers) > 0 {
			v.texts = t.textsOf(texts)
		}
		text, err := p.part.Text(ctx, &v)
		if err != nil {
			return "", fmt.Errorf("make %q: part %s: %w", t.text, p.name, err)
		}
		if len(text) > p.part.Max {
			return "", fmt.Errorf("make %q: part %s gave %d bytes and declares at most %d", t.text, p.name, len(text), p.part.Max)
		}
		texts[i] = text
	}
	return strings.Join(texts, ""), nil
}
