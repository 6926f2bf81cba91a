package stmt

import "bytes"

// Hints gives the texts of the optimizer hints, /*+ … */, wherever they stand:
// also where a server takes them for comments.
func (l *Lexed) Hints() (list []string) {
	for _, a := range l.asides {
		if hint, ok := bytes.CutPrefix(l.Text[a.start:a.end], []byte("/*+")); ok {
			list = append(list, string(bytes.TrimSuffix(hint, []byte("*/"))))
		}
	}
	return list
}
