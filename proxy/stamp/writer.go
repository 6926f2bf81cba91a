package stamp

import (
	"sort"

	"locus/router/stmt"
)

// writer copies pieces of the client's text, with splices where they belong, and
// keeps account of the placeholders that stand in them.
type writer struct {
	from    *stmt.Lexed
	form    form
	splices []splice // ascending
	text    []byte
	params  []Param

	pos  int // the client's text up to here was copied or passed over
	next int // splices up to here were written
}

// splice is text that is put at a place of the client's.
type splice struct {
	at   int
	text []byte
}

func (w *writer) reset(from *stmt.Lexed, f form) {
	w.from, w.form = from, f
	w.splices, w.text, w.params = w.splices[:0], w.text[:0], w.params[:0]
}

// rewind goes back to the start of the client's text.
func (w *writer) rewind() { w.pos, w.next = 0, 0 }

// passOver leaves out the client's text up to pos; it may also go back.
func (w *writer) passOver(pos int) { w.pos = pos }

// upTo copies the client's text up to end, and the splices on the way.
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

// bind notes the client's placeholders within [from, to).
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

// put writes text of our own.
func (w *writer) put(text string) { w.text = append(w.text, text...) }

// placeholder writes a placeholder for a generated value.
func (w *writer) placeholder(v stmt.Value) {
	w.text = append(w.text, '?')
	w.params = append(w.params, Param{Bound: -1, Value: v})
}
