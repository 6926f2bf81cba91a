package stmt

// Comments returns the comments at the start and end of a text, if any. Applications put trace information there.
func (l *Lexed) Comments() (first, last []byte) {
	if n := len(l.Literals); n > 0 {
		first, last = l.commentAt(l.Literals[0]), l.commentAt(l.Literals[n-1])
	}
	return first, last
}

func (l *Lexed) commentAt(literal Literal) []byte {
	if literal.Kind != CommentLiteral || int(literal.End) > len(l.Text) {
		return nil
	}
	return l.Text[literal.Start:literal.End]
}
