package stmt

import "sort"

// Anchor is a position in every text of one key: a number of bytes behind the preceding literal (or stripped comment).
type Anchor struct {
	Slot  int32 // or fromStart, or fromRows
	Delta int32
}

const (
	// fromStart anchors count from the start of the text.
	fromStart = -1
	// fromRows anchors count from the last closing parenthesis of an INSERT's rows.
	fromRows = -2
)

// Anchor converts an offset in the lexed text to an anchor. The offset must not be within a literal or the rows of an
// INSERT.
func (l *Lexed) Anchor(offset int) Anchor {
	slot := sort.Search(len(l.Slots), func(i int) bool {
		return int(l.Literals[l.Slots[i].First].Start) >= offset
	}) - 1
	if n := len(l.Rows); n > 0 {
		end := l.Rows[n-1].Close
		if int(end) < offset && (slot < 0 || l.Literals[l.Slots[slot].First].Start < end) {
			return Anchor{fromRows, int32(offset) - end}
		}
	}
	if slot < 0 {
		return Anchor{fromStart, int32(offset)}
	}
	return Anchor{int32(slot), int32(offset) - l.slotEnd(int32(slot))}
}

// Offset returns the anchor's offset in another text of the same key.
func (l *Lexed) Offset(a Anchor) int {
	switch a.Slot {
	case fromStart:
		return int(a.Delta)
	case fromRows:
		return int(l.Rows[len(l.Rows)-1].Close + a.Delta)
	}
	return int(l.slotEnd(a.Slot) + a.Delta)
}

// slotEnd returns the end of a slot's last literal.
func (l *Lexed) slotEnd(slot int32) int32 {
	s := l.Slots[slot]
	return l.Literals[s.First+s.Count-1].End
}

// SlotAt returns the slot whose first literal begins at offset.
func (l *Lexed) SlotAt(offset int) (int32, bool) {
	slot := sort.Search(len(l.Slots), func(i int) bool {
		return int(l.Literals[l.Slots[i].First].Start) >= offset
	})
	if slot == len(l.Slots) || int(l.Literals[l.Slots[slot].First].Start) != offset {
		return -1, false
	}
	return int32(slot), true
}
