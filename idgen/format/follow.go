package format

import "slices"

// Follows reports whether a template may replace an earlier one that took its numbers from the same sequence, after any
// number of such replacements: no text of it is equal to an earlier text. That holds if the number, and the period that it
// belongs to, are read from every text in the same way. Then equal texts would need equal numbers.
func (t *Template) Follows(before *Template) bool {
	is, was := t.Sequence(), before.Sequence()
	switch {
	case t.text == before.text:
		return true
	case is.Scope != was.Scope || is.Zone != was.Zone || is.Hidden != was.Hidden || !slices.Equal(is.Keys, was.Keys):
		return false
	case t.Scoped() && !t.shows(before):
		return false
	}
	a, b := t.place(), before.place()
	sameDigits := is.Fixed && was.Fixed && is.Max == was.Max
	return a == b && (sameDigits || is.Hidden == 0 && a.left >= 0 && a.right >= 0)
}

// place is where a template's sequence is in its texts: the number of bytes before and after it, or -1 where that varies.
type place struct{ left, right int }

func (t *Template) place() place {
	at := t.unique()
	return place{length(t.pieces[:at]), length(t.pieces[at+1:])}
}

// length returns the length of the pieces' texts, or -1 if it varies.
func length(pieces []piece) (n int) {
	for _, p := range pieces {
		switch {
		case !p.fixed():
			return -1
		case p.part == nil:
			n += len(p.literal)
		default:
			n += p.part.Max
		}
	}
	return n
}

// shows reports whether both templates have the same parts in the same places, except for the sequence's digits. Their
// texts then show times in the same way.
func (t *Template) shows(before *Template) bool {
	if len(t.pieces) != len(before.pieces) {
		return false
	}
	for i, p := range t.pieces {
		was := before.pieces[i]
		unique := p.part != nil && p.part.Unique
		if p.name != was.name || len(p.literal) != len(was.literal) || !unique && p.rest != was.rest {
			return false
		}
	}
	return true
}
