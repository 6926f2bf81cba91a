package backend

import "container/list"

// Statement is a statement prepared on one connection. It outlives the borrower that prepared it.
type Statement struct {
	ID      uint32 // on the server, for this connection
	Params  int
	Columns int

	// Types are the parameters' types of its last execution, two bytes each as in COM_STMT_EXECUTE; nil before the first.
	// The server keeps them, and they may be another session's: an execution that would send none sends its own if they
	// differ, and records them here.
	Types []byte

	key     text
	element *list.Element
}

// text is a statement's text and the settings under which it was read: the same text means something else in another
// database or under another sql_mode. Settings are nil while they are unknown.
type text struct {
	under *Settings
	sql   string
}

// statements are those prepared on one connection, the last used first. Its zero value is empty and holds none: see limit.
type statements struct {
	limit  int
	byText map[text]*Statement
	recent list.List // of *Statement
	bytes  int       // of their texts
}

// mostText is what the texts of a connection's statements may have together, in bytes,
// for it to keep them: longer ones are forgotten once the borrower is done.
const mostText = 512 << 10

// tooLong tells that they are more than that.
func (l *statements) tooLong() bool { return l.bytes > mostText }

func (l *statements) len() int { return l.recent.Len() }

func (l *statements) find(key text) (*Statement, bool) {
	s, ok := l.byText[key]
	if ok {
		l.recent.MoveToFront(s.element)
	}
	return s, ok
}

// makeRoom takes out what has to be closed on the server before key is prepared.
func (l *statements) makeRoom(key text) (closed []uint32) {
	if s, ok := l.byText[key]; ok {
		closed = append(closed, l.remove(s))
	}
	for l.len() > 0 && (l.len() >= l.limit || l.bytes+len(key.sql) > mostText) {
		closed = append(closed, l.remove(l.oldest()))
	}
	return closed
}

// giveUp takes out all of them, to be closed on a server that has no room left.
func (l *statements) giveUp() (closed []uint32) {
	for l.len() > 0 {
		closed = append(closed, l.remove(l.oldest()))
	}
	return closed
}

func (l *statements) oldest() *Statement { return l.recent.Back().Value.(*Statement) }

func (l *statements) add(s *Statement) {
	if l.byText == nil {
		l.byText = make(map[text]*Statement)
	}
	l.byText[s.key] = s
	s.element = l.recent.PushFront(s)
	l.bytes += len(s.key.sql)
}

func (l *statements) remove(s *Statement) uint32 {
	if l.byText[s.key] == s {
		delete(l.byText, s.key)
		l.recent.Remove(s.element)
		l.bytes -= len(s.key.sql)
	}
	return s.ID
}

// clear forgets all, after the server has.
func (l *statements) clear() {
	clear(l.byText)
	l.recent.Init()
	l.bytes = 0
}
