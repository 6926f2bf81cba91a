package stmt

import "bytes"

// First finds the end of the first statement of a text that may hold several, separated by semicolons. The statement is
// text[:end]. The rest begins at next, which is len(text) if only blanks and semicolons are left. Semicolons within the
// body of a stored program don't separate statements.
func First(text []byte, mode Mode) (end, next int) {
	s := splitter{text: text, mode: mode}
	for s.pos < len(text) {
		if text[s.pos] == ';' && len(s.blocks) == 0 {
			return s.pos, restFrom(text, s.pos+1)
		}
		s.step()
	}
	return len(text), len(text)
}

func restFrom(text []byte, at int) int {
	if onlyBlanks(text[at:]) {
		return len(text)
	}
	for class[text[at]] == spaceByte {
		at++
	}
	return at
}

// Blank reports whether a text contains only blanks and comments.
func Blank(text []byte) bool {
	for i := 0; i < len(text); {
		p := segmentAt(text, i, 0)
		if p.kind != blankSegment && p.kind != commentSegment || conditional(text, i) {
			return false
		}
		i = p.end
	}
	return true
}

// Blank reports whether the text was read and contains only blanks and comments.
func (l *Lexed) Blank() bool { return l.Err == nil && Blank(l.Text) }

// splitter reads a text word by word. It parses only as much as it needs to distinguish the semicolons of a program's
// body from those between statements. If it misreads a program, it truncates it, and servers refuse the result.
type splitter struct {
	text []byte
	mode Mode
	pos  int

	words   int // number of words so far
	lead    lead
	program bool    // the statement creates a stored program
	begins  bool    // a statement of the body may begin here
	body    bool    // the body has begun
	blocks  []block // open blocks
}

// lead is the kind of a statement's first word, as far as it matters.
type lead uint8

const (
	leadOther  lead = iota
	leadCreate      // or ALTER
	leadBegin
	leadSet
)

// block is a construct that END closes.
type block uint8

const (
	statements block = iota // BEGIN, IF, LOOP, … or CASE as a statement
	expression              // CASE within an expression
)

func (s *splitter) step() {
	p := segmentAt(s.text, s.pos, s.mode)
	at := s.pos
	s.pos = p.end
	switch p.kind {
	case blankSegment, commentSegment:
	case wordSegment:
		s.word(s.text[at:p.end])
	case quotedSegment:
		s.begins = false
	case endlessSegment:
		s.pos = len(s.text)
	case otherSegment:
		if bytes.HasPrefix(s.text[at:], []byte("--;")) {
			s.pos = len(s.text) // at the end of a piece this would be a comment, and no server accepts the whole text
			return
		}
		c := s.text[at]
		s.begins = c == ';' || c == ':' // behind a label
	}
}

func (s *splitter) word(w []byte) {
	s.words++
	if at := s.pos - len(w); at > 0 && s.text[at-1] == '.' {
		return // part of a name
	}
	if !s.program {
		s.head(w)
		return
	}
	if s.declares(w) {
		s.pos = len(s.text) // only a server of that dialect knows which semicolon ends it
		return
	}
	begins := s.begins && !s.within(expression)
	s.begins = opensStatement(w)
	switch {
	case isWord(w, "end"):
		s.close()
	case isWord(w, "case"):
		kind := expression
		if begins {
			kind = statements
		}
		s.blocks = append(s.blocks, kind)
	case isWord(w, "begin"), isWord(w, "loop"), isWord(w, "while"),
		isWord(w, "repeat") && begins, (isWord(w, "if") || isWord(w, "for")) && begins:
		s.blocks = append(s.blocks, statements)
	}
}

// head checks whether a statement contains others.
func (s *splitter) head(w []byte) {
	if s.words == 1 || s.begins {
		s.first(w)
		return
	}
	switch {
	case s.lead == leadBegin && s.words == 2 && isWord(w, "not"): // BEGIN NOT ATOMIC
		s.program, s.body, s.blocks = true, true, append(s.blocks, statements)
	case s.lead == leadSet && s.words == 2 && !isWord(w, "statement"):
		s.lead = leadOther
	case s.lead == leadSet && isWord(w, "for"): // SET STATEMENT … FOR
		s.words = 0
	case s.lead == leadCreate && (isWord(w, "procedure") || isWord(w, "function") || isWord(w, "trigger") || isWord(w, "event") || isWord(w, "package")):
		s.program = true
	case s.lead == leadCreate && (isWord(w, "table") || isWord(w, "view") || isWord(w, "user") || isWord(w, "database") || isWord(w, "schema")):
		s.lead = leadOther
	}
}

// first reads the first word of a statement, which may follow a label.
func (s *splitter) first(w []byte) {
	s.lead, s.begins = leadOther, false
	switch {
	case isWord(w, "create"), isWord(w, "alter"):
		s.lead = leadCreate
	case isWord(w, "begin"):
		s.lead = leadBegin
		s.words = 1
	case isWord(w, "set"):
		s.lead = leadSet
		s.words = 1
	case isWord(w, "if"), isWord(w, "case"), isWord(w, "loop"), isWord(w, "while"), isWord(w, "repeat"), isWord(w, "for"):
		s.program, s.body, s.begins = true, true, opensStatement(w)
		s.blocks = append(s.blocks, statements)
	}
}

// close ends a block, including the word that repeats its kind.
func (s *splitter) close() {
	if n := len(s.blocks); n > 0 {
		s.blocks = s.blocks[:n-1]
	}
	i := s.pos
	for i < len(s.text) && class[s.text[i]] == spaceByte {
		i++
	}
	end := wordEnd(s.text, i)
	for _, again := range []string{"if", "case", "loop", "while", "repeat", "for"} {
		if isWord(s.text[i:end], again) {
			s.pos = end
		}
	}
}

// declares reports whether a program of sql_mode ORACLE has declarations, or other programs, before or without a BEGIN.
func (s *splitter) declares(w []byte) bool {
	if isWord(w, "row") && len(s.blocks) == 0 {
		s.body = false // the words before were a trigger's events
	}
	if s.body {
		return false
	}
	for _, opening := range []string{"begin", "select", "insert", "update", "delete", "replace", "set", "call", "do", "if", "case", "with", "signal", "loop", "while", "repeat"} {
		s.body = s.body || isWord(w, opening)
	}
	return isWord(w, "as") || isWord(w, "is") || isWord(w, "declare")
}

func (s *splitter) within(b block) bool {
	n := len(s.blocks)
	return n > 0 && s.blocks[n-1] == b
}

// opensStatement reports whether a statement of a body may begin behind a word.
func opensStatement(w []byte) bool {
	for _, opening := range []string{"begin", "atomic", "then", "else", "do", "loop", "repeat", "row"} {
		if isWord(w, opening) {
			return true
		}
	}
	return false
}
