package stmt

import "bytes"

// Hints returns the texts of all optimizer hints, /*+ … */, including those that a server treats as comments.
func (l *Lexed) Hints() (list []string) {
	for _, a := range l.asides {
		if hint, ok := bytes.CutPrefix(l.Text[a.start:a.end], []byte("/*+")); ok {
			list = append(list, string(bytes.TrimSuffix(hint, []byte("*/"))))
		}
	}
	return list
}
