package advise

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"locus/router/stmt"
)

// Format is the format of a file with statements.
type Format string

const (
	SlowLog    Format = "slow log"
	GeneralLog Format = "general log"
	Statements Format = "file of statements"
)

// Read adds the statements of a log, which may be compressed by gzip. database is the database of statements for which the log has none.
// A statement that can't be read is counted and doesn't end the reading. Read returns an error for a file without any entry.
func (w *Workload) Read(r io.Reader, f Format, database, source string) error {
	lines, err := newLines(r)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	var n int
	switch f {
	case SlowLog:
		n = readSlow(w, lines, database)
	case GeneralLog:
		n = readGeneral(w, lines, database)
	case Statements:
		n = readStatements(w, lines, database)
	}
	if lines.err != nil {
		return fmt.Errorf("%s: %w", source, lines.err)
	}
	if n == 0 {
		return fmt.Errorf("%s has no entry of a %s: check the format of the file", source, f)
	}
	if lines.cut > 0 {
		w.Notes = append(w.Notes, fmt.Sprintf("%s: %d lines are longer than %d bytes and were cut", source, lines.cut, mostText))
	}
	w.Sources = append(w.Sources, fmt.Sprintf("%s %s: %d statements", f, source, n))
	return nil
}

// lines reads lines of bounded length.
type lines struct {
	r    *bufio.Reader
	line []byte
	cut  int
	err  error
}

func newLines(r io.Reader) (*lines, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := buffered.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, err
		}
		buffered = bufio.NewReaderSize(unpacked, 64<<10)
	}
	return &lines{r: buffered}, nil
}

// next reads the next line, without its end, and reports whether there is one.
func (l *lines) next() bool {
	l.line = l.line[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if room := mostText + 2 - len(l.line); len(part) > room {
			part, long = part[:room], true
		}
		l.line = append(l.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			l.err = err
			return false
		case err != nil && len(l.line) == 0:
			return false
		}
		if long {
			l.cut++
		}
		l.line = bytes.TrimRight(l.line, "\r\n")
		return true
	}
}

// text collects the lines of a statement.
type text struct{ strings.Builder }

func (t *text) add(line []byte) {
	if t.Len() > mostText {
		return
	}
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.Write(line)
}

// take returns the statement without its end, and begins the next one.
func (t *text) take() string {
	s := strings.TrimSpace(t.String())
	t.Reset()
	return strings.TrimSpace(strings.TrimSuffix(s, ";"))
}

// slowHeads are the beginnings of the lines above a statement. Others that begin with # belong to the statement.
var slowHeads = [][]byte{
	[]byte("# Time: "), []byte("# User@Host: "), []byte("# Thread_id: "), []byte("# Query_time: "), []byte("# Schema: "), []byte("# Rows_"), []byte("# Bytes_"),
	[]byte("# Full_"), []byte("# Filesort"), []byte("# Tmp_"), []byte("# Stored"), []byte("# explain: "), []byte("# InnoDB_"), []byte("# Pages_"), []byte("# Log_slow"),
	[]byte("# No InnoDB"), []byte("# Engine_"), []byte("# Priority_"), []byte("# Killed"), []byte("# Profile"), []byte("# Last_errno"), []byte("# administrator command"),
}

// slowStart matches the header that a server writes into a new or reopened log.
var slowStart = regexp.MustCompile(`^(?:\S.*, Version: .* started with:|Tcp port: .*|Time +Id Command +Argument)$`)

var slowField = regexp.MustCompile(`(Query_time|Schema): +(\S*)`)

// slow reads one entry after the other.
type slow struct {
	w        *Workload
	database string // the last one that the log names
	seconds  float64
	seen     bool // a head of the current entry
	text     text
	n        int
}

func readSlow(w *Workload, l *lines, database string) int {
	s := &slow{w: w, database: database}
	for l.next() {
		switch line := l.line; {
		case isHead(line):
			s.flush()
			s.head(line)
		case !s.seen, slowStart.Match(line):
		default:
			s.body(line)
		}
	}
	s.flush()
	return s.n
}

func isHead(line []byte) bool {
	for _, head := range slowHeads {
		if bytes.HasPrefix(line, head) {
			return true
		}
	}
	return false
}

func (s *slow) head(line []byte) {
	s.seen = true
	for _, field := range slowField.FindAllSubmatch(line, -1) {
		switch value := string(field[2]); {
		case string(field[1]) == "Query_time":
			s.seconds, _ = strconv.ParseFloat(value, 64)
		case value != "" && value != "QC_hit:":
			s.database = value
		}
	}
}

// body reads a line of the statement, or one of the two lines that the server writes above it.
func (s *slow) body(line []byte) {
	if s.text.Len() == 0 {
		if name, is := used(string(line)); is {
			s.database = name
			return
		}
		if len(line) > 14 && strings.EqualFold(string(line[:14]), "SET timestamp=") {
			return
		}
	}
	s.text.add(line)
}

func (s *slow) flush() {
	if statement := s.text.take(); statement != "" {
		s.w.Add(s.database, statement, s.seconds)
		s.n++
	}
}

// generalEntry matches the first line of an entry: its time, if it differs from the one before, the session, the command and the statement.
var generalEntry = regexp.MustCompile(`^(?:\d{6} +\d\d?:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+)?\t+ *(\d+) ([A-Z][A-Za-z]*(?: [A-Za-z]+)?)(?:\t(.*))?$`)

// mostSessions limits the sessions whose database is remembered.
const mostSessions = 100_000

// general reads one entry after the other.
type general struct {
	w         *Workload
	otherwise string
	databases map[string]string // by session
	session   string
	counts    bool // the current entry is a statement
	text      text
	n         int
}

func readGeneral(w *Workload, l *lines, database string) int {
	g := &general{w: w, otherwise: database, databases: map[string]string{}}
	for l.next() {
		if m := generalEntry.FindSubmatch(l.line); m != nil {
			g.flush()
			g.entry(string(m[1]), string(m[2]), m[3])
		} else if g.counts && !slowStart.Match(l.line) {
			g.text.add(l.line)
		}
	}
	g.flush()
	return g.n
}

func (g *general) entry(session, command string, argument []byte) {
	g.session, g.counts = session, command == "Query" || command == "Execute"
	switch command {
	case "Query", "Execute":
		g.text.add(argument)
	case "Connect", "Change user":
		if _, on, is := strings.Cut(string(argument), " on "); is {
			name, _, _ := strings.Cut(on, " ")
			g.use(name)
		}
	case "Init DB":
		g.use(string(argument))
	case "Quit":
		delete(g.databases, session)
	}
}

func (g *general) use(name string) {
	if len(g.databases) >= mostSessions {
		clear(g.databases)
	}
	g.databases[g.session] = name
}

func (g *general) flush() {
	statement := g.text.take()
	if statement == "" {
		return
	}
	if name, is := used(statement); is {
		g.use(name)
		return
	}
	database := g.databases[g.session]
	if database == "" {
		database = g.otherwise
	}
	g.w.Add(database, statement, 0)
	g.n++
}

// used returns the database of a USE statement. Comments may precede it.
func used(statement string) (name string, is bool) {
	for strings.HasPrefix(statement, "--") || strings.HasPrefix(statement, "#") {
		_, rest, _ := strings.Cut(statement, "\n")
		statement = strings.TrimSpace(rest)
	}
	if len(statement) > 4 && strings.EqualFold(statement[:4], "use ") {
		return strings.Trim(statement[4:], "` ;"), true
	}
	return "", false
}

// readStatements reads statements that end with a semicolon at the end of a line. USE sets the database of those that follow.
func readStatements(w *Workload, l *lines, database string) (n int) {
	var t text
	flush := func() {
		rest := []byte(t.String())
		t.Reset()
		for len(bytes.TrimSpace(rest)) > 0 {
			end, next := stmt.First(rest, 0)
			one := strings.TrimSpace(string(rest[:end]))
			rest = rest[next:]
			if name, is := used(one); is {
				database = name
			} else if one != "" && !stmt.Blank([]byte(one)) {
				w.Add(database, one, 0)
				n++
			}
		}
	}
	for l.next() {
		t.add(l.line)
		if bytes.HasSuffix(bytes.TrimRight(l.line, " \t"), []byte(";")) || t.Len() > mostText {
			flush()
		}
	}
	flush()
	return n
}
