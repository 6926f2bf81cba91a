package backend

import "container/list"

// Statement is a statement prepared on one connection. It outlives the borrower that prepared it.
type Statement struct {
	ID      uint32 // the server's ID for it on this connection
	Params  int
	Columns int

	// Types are the parameters' types of the last execution, two bytes each as in COM_STMT_EXECUTE, or nil before the
	// first. The server keeps them, and another session may have set them. So an execution that would send no types sends
	// its own if they differ, and records them here.
	Types []byte

	key     text
	element *list.Element
}

// text is a statement's text and the settings under which it was parsed. The same text has another meaning in another database
// or under another sql_mode. Settings are nil while they are unknown.
//
// binding is the same for all executions of the statement, see [AppendBinding]. It is empty for a statement that was not
// executed yet, and for a statement without parameters.
type text struct {
	under   *Settings
	sql     string
	binding string
}

// statements holds the statements prepared on one connection, most recently used first. The zero value has limit 0.
type statements struct {
	limit int
	// forgets reports that the server keeps nothing with a statement that has no result columns. So such statements get no binding.
	forgets bool

	byText map[text]*Statement
	recent list.List // list of *Statement
	bytes  int       // total length of their texts
}

// mostText is the largest total length in bytes of the statement texts that a connection keeps. Above it they are
// forgotten once the borrower is done.
const mostText = 512 << 10

// tooLong reports whether the texts exceed mostText.
func (l *statements) tooLong() bool { return l.bytes > mostText }

func (l *statements) len() int { return l.recent.Len() }

// find returns a statement for an execution with a binding. That is one that was executed with the same binding, or with one that has
// values where this one has NULLs, or with none yet.
func (l *statements) find(under *Settings, sql string, binding []byte) (*Statement, bool) {
	s, ok := l.byText[text{under, sql, string(binding)}]
	if !ok {
		if s = l.fitting(under, sql, binding); s == nil {
			return nil, false
		}
	}
	l.recent.MoveToFront(s.element)
	return s, true
}

// fitting finds a statement with another binding. A NULL that is only stored fits every type. Only the definitions of result columns show
// its type, so statements without such columns are shared.
func (l *statements) fitting(under *Settings, sql string, binding []byte) *Statement {
	for e := l.recent.Front(); e != nil && hasNull(binding); e = e.Next() {
		s := e.Value.(*Statement)
		if s.Columns == 0 && s.key.under == under && s.key.sql == sql && fits(s.key.binding, binding) {
			return s
		}
	}
	s := l.byText[text{under: under, sql: sql}]
	if s != nil && l.binds(s) {
		l.bind(s, string(binding))
	}
	return s
}

// binds reports whether the server keeps any property of the values with which a statement is executed.
func (l *statements) binds(s *Statement) bool { return !l.forgets || s.Columns > 0 }

// bind assigns a binding to a statement that was not executed yet. There must be no other statement with it.
func (l *statements) bind(s *Statement, binding string) {
	if !l.binds(s) {
		return
	}
	delete(l.byText, s.key)
	s.key.binding = binding
	l.byText[s.key] = s
}

// makeRoom removes statements so that key can be prepared. It returns their IDs, which must be closed on the server first.
func (l *statements) makeRoom(key text) (closed []uint32) {
	if s, ok := l.byText[key]; ok {
		closed = append(closed, l.remove(s))
	}
	for l.len() > 0 && (l.len() >= l.limit || l.bytes+len(key.sql) > mostText) {
		closed = append(closed, l.remove(l.oldest()))
	}
	return closed
}

// giveUp removes all statements, to be closed on a server that has reached its limit.
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

// clear forgets all statements after the server has.
func (l *statements) clear() {
	clear(l.byText)
	l.recent.Init()
	l.bytes = 0
}
