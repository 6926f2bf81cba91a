package format

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Field is a part of a string that a template has made.
type Field struct {
	Name, Text string // of context parts the name is that of the value
}

// Read takes a string apart: the values of its parts in their order, without literals, and the sequence, which is revealed if
// it is hidden. Of v the generator's name and the hider are used. It is an error if the template can't have made the string, or if
// it can't be told which of its parts has which text.
func (t *Template) Read(text string, v Values) (fields []Field, sequence uint64, err error) {
	texts, err := t.split(text)
	if err != nil {
		return nil, 0, fmt.Errorf("read %q as %q: %w", text, t.text, err)
	}
	sequence, err = t.reveal(texts, &v)
	if err != nil {
		return nil, 0, fmt.Errorf("read %q as %q: %w", text, t.text, err)
	}
	for i, p := range t.pieces {
		if p.part == nil {
			continue
		}
		name := p.name
		if name == "context" {
			name, _, _ = strings.Cut(p.rest, ":")
		}
		if name == "check" {
			if made, err := p.part.Text(context.Background(), &v); err != nil || made != texts[i] {
				return nil, 0, fmt.Errorf("read %q as %q: its check is %s, and would be %s: a digit is wrong", text, t.text, texts[i], made)
			}
		}
		fields = append(fields, Field{name, texts[i]})
	}
	return fields, sequence, nil
}

// reveal is the sequence as it was before it was hidden; v gets it as it is shown.
func (t *Template) reveal(texts []string, v *Values) (uint64, error) {
	at := t.unique()
	part := t.pieces[at].part
	var err error
	if v.Sequence, err = strconv.ParseUint(texts[at], 10, 64); err != nil {
		return 0, fmt.Errorf("its sequence %q is no number", texts[at])
	}
	if part.Hidden == 0 {
		return v.Sequence, nil
	}
	if v.Hider == nil {
		return 0, errNoKeys
	}
	return v.Hider.RevealDigits(part.Hidden, part.Max, tweak(v.Name, t.scopeOf(texts, part)), v.Sequence)
}

// scopeOf is the time that a sequence began anew with, as the text shows it.
func (t *Template) scopeOf(texts []string, part *Part) string {
	shown := map[string]string{"yyyy": "", "yy": ""}
	for i, p := range t.pieces {
		if p.part == nil || p.part.Unique || p.part.Scope == "" || p.part.Zone != part.Zone {
			continue
		}
		eachToken(p.part.Scope, func(token string, at int) { shown[token] = texts[i][at : at+len(token)] })
	}
	if shown["yy"] == "" && shown["yyyy"] != "" {
		shown["yy"] = shown["yyyy"][2:]
	}
	if shown["yyyy"] == "" {
		shown["yyyy"] = "20" + shown["yy"]
	}
	scope := []byte(part.Scope)
	eachToken(part.Scope, func(token string, at int) { copy(scope[at:], shown[token]) })
	return string(scope)
}

// eachToken goes through those of a layout of time.
func eachToken(layout string, do func(token string, at int)) {
	for at := 0; at < len(layout); {
		step := 1
		for _, t := range tokens {
			if strings.HasPrefix(layout[at:], t.token) {
				do(t.token, at)
				step = len(t.token)
				break
			}
		}
		at += step
	}
}

var (
	errNotMade   = errors.New("the template makes no such text")
	errAmbiguous = errors.New("which of its parts has which text can't be told: the template has several of any length")
)

// split is the text of each piece: from the left as long as lengths are known, then from the right. One in between has the rest.
func (t *Template) split(text string) ([]string, error) {
	texts := make([]string, len(t.pieces))
	first, last := 0, len(t.pieces)-1
	for ; first <= last; first++ {
		n := t.pieces[first].lengthIn(text)
		if n < 0 {
			break
		}
		if n > len(text) || !t.pieces[first].fitsIn(text[:n]) {
			return nil, errNotMade
		}
		texts[first], text = text[:n], text[n:]
	}
	for ; last > first; last-- {
		n := t.pieces[last].lengthAtEnd(text)
		if n < 0 {
			break
		}
		if n > len(text) || !t.pieces[last].fitsIn(text[len(text)-n:]) {
			return nil, errNotMade
		}
		texts[last], text = text[len(text)-n:], text[:len(text)-n]
	}
	switch {
	case first < last:
		return nil, errAmbiguous
	case first > last && text != "":
		return nil, errNotMade
	case first == last:
		if !t.pieces[first].fitsIn(text) {
			return nil, errNotMade
		}
		texts[first] = text
	}
	return texts, nil
}

// lengthIn is how much of the text's beginning is the piece's; -1 if that can't be told.
func (p piece) lengthIn(text string) int {
	switch {
	case p.part == nil:
		return len(p.literal)
	case p.part.Fixed:
		return p.part.Max
	case p.part.Unique: // digits: what follows is none, or it would not be readable from here
		return len(text) - len(strings.TrimLeft(text, "0123456789"))
	}
	return -1
}

func (p piece) lengthAtEnd(text string) int {
	if p.part != nil && p.part.Unique && !p.part.Fixed {
		return len(text) - len(strings.TrimRight(text, "0123456789"))
	}
	return p.lengthIn(text)
}

// fitsIn tells whether the piece may have that text.
func (p piece) fitsIn(text string) bool {
	switch {
	case p.part == nil:
		return text == p.literal
	case p.part.Unique && !p.part.Fixed:
		return text != "" && len(text) <= p.part.Max && (text == "0" || text[0] != '0')
	}
	return len(text) <= p.part.Max
}
