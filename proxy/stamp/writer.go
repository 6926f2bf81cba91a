package stamp

import (
	"sort"

	"locus/router/stmt"
)

// writer copies pieces of the client's text with splices in place, and tracks the placeholders in them.
type writer struct {
	from    *stmt.Lexed
	form    form
	splices []splice // in ascending order
	text    []byte
	params  []Param

	pos  int // position in the client's text
	next int // index of the next splice
}

// splice is text inserted at a position of the client's text.
type splice struct {
	at   int
	text []byte
}

func (w *writer) reset(from *stmt.Lexed, f form) {
	w.from, w.form = from, f
	w.splices, w.text, w.params = w.splices[:0], w.text[:0], w.params[:0]
}

// rewind returns to the start of the client's text.
func (w *writer) rewind() { w.pos, w.next = 0, 0 }

// passOver moves to pos without copying. It may also move back.
func (w *writer) passOver(pos int) { w.pos = pos }

// upTo copies the client's text up to end, with the splices on the way.
func (w *writer) upTo(end int) {
	for ; w.next < len(w.splices) && w.splices[w.next].at <= end; w.next++ {
		w.copyTo(w.splices[w.next].at)
		w.text = append(w.text, w.splices[w.next].text...)
	}
	w.copyTo(end)
}

func (w *writer) copyTo(end int) {
	if end <= w.pos {
		return
	}
	w.text = append(w.text, w.from.Text[w.pos:end]...)
	if w.form == placeholders {
		w.bind(w.pos, end)
	}
	w.pos = end
}

// bind records the client's placeholders within [from, to).
func (w *writer) bind(from, to int) {
	all := w.from.Literals
	first := sort.Search(len(all), func(i int) bool { return int(all[i].Start) >= from })
	for _, literal := range all[first:] {
		if int(literal.Start) >= to {
			return
		}
		if literal.Kind == stmt.ParamLiteral {
			w.params = append(w.params, Param{Bound: int(literal.Param)})
		}
	}
}

// put writes generated text.
func (w *writer) put(text string) { w.text = append(w.text, text...) }

// placeholder writes a placeholder for a generated value.
func (w *writer) placeholder(v stmt.Value) {
	w.text = append(w.text, '?')
	w.params = append(w.params, Param{Bound: -1, Value: v})
}
