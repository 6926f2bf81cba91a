package ids

import "math/bits"

// numberSet is a set of numbers: a bit for each, in pages that exist where there are numbers.
type numberSet map[uint64]*[pageWords]uint64

const pageWords = 1 << 10 // 65,536 numbers in 8 KiB

// add reports whether the number is new.
func (s numberSet) add(n uint64) bool {
	word, bit := n>>6, uint64(1)<<(n&63)
	page := s[word/pageWords]
	if page == nil {
		page = new([pageWords]uint64)
		s[word/pageWords] = page
	}
	if page[word%pageWords]&bit != 0 {
		return false
	}
	page[word%pageWords] |= bit
	return true
}

func (s numberSet) count() (n uint64) {
	for _, page := range s {
		for _, word := range page {
			n += uint64(bits.OnesCount64(word))
		}
	}
	return n
}
