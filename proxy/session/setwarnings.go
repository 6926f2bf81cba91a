package session

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"locus/proxy/backend"
)

// SetWarnings remembers which warnings a server gave to a SET, so that settings
// which many sessions choose are not tried out for each of them: a connection
// that carries them already is then enough. It may be used concurrently.
type SetWarnings struct {
	mu    sync.Mutex
	known map[string][]diagnostic // by text; the lists are not changed
}

// What is remembered at most.
const (
	longestSet = 256 // bytes
	mostSets   = 1000
)

func (w *SetWarnings) of(text string) ([]diagnostic, bool) {
	if w == nil {
		return nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list, ok := w.known[text]
	return list, ok
}

func (w *SetWarnings) learn(text string, list []diagnostic) {
	if w == nil || len(text) > longestSet {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= mostSets {
		w.known = map[string][]diagnostic{}
	}
	w.known[text] = list
}

// say notes an assignment of system variables as a server is to hear it.
func (v *view) say(assignment string) { v.said = append(v.said, assignment) }

// take has the first shard take what a SET changes, and keeps its warnings.
func (s *Session) take(next view) error {
	if len(next.said) > 0 && !wide(s.settings) && !wide(next.settings) {
		return s.hear("SET "+strings.Join(next.said, ", "), next)
	}
	if next.settings == s.settings && !s.ranCode() {
		return nil
	}
	return s.tryAnew(next)
}

// wide tells whether texts are read in a character set in which words are no
// words: the settings then go out in another form, and warnings are lost.
func wide(settings *backend.Settings) bool {
	for _, name := range []string{"character_set_connection", "collation_connection"} {
		literal, _ := settings.Lookup(name)
		for _, charset := range []string{"ucs2", "utf16", "utf32"} {
			if strings.Contains(literal, charset) {
				return true
			}
		}
	}
	return false
}

// hear learns what a server says to the assignments alone. They run on a
// connection that carries what the session had before: one that must be brought to
// more than they change would be warned of more.
func (s *Session) hear(text string, next view) error {
	key := text
	for _, name := range []string{"sql_notes", "max_error_count"} { // they change what is told
		literal, _ := s.settings.Lookup(name)
		key += ";" + literal
	}
	if list, known := s.World().Sets.of(key); known {
		s.warnings = append(s.warnings, list...)
		return s.tryAnew(next)
	}
	return s.onFirst(s.settings, func(c *backend.Conn) error {
		ok, err := c.Own().Exec(s.ctx, text)
		if err != nil {
			c.Note(backend.State)
			return err
		}
		from := len(s.warnings)
		if ok.Warnings > 0 {
			rows, err := c.Own().Query(s.ctx, "SHOW WARNINGS LIMIT "+strconv.Itoa(mostWarnings))
			if err != nil {
				return err
			}
			s.appendWarnings(rows)
		}
		s.World().Sets.learn(key, slices.Clone(s.warnings[from:]))
		undo := s.invalidate(next.assigned, nil)
		err = c.Carry(s.ctx, next.settings)
		if err != nil {
			undo()
		}
		return err
	})
}
