package sysvars

import (
	"slices"
	"strings"
	"sync"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// SetWarnings remembers which warnings a server gave to a SET, so that settings
// which many sessions choose are not tried out for each of them: a connection
// that carries them already is then enough. It may be used concurrently.
type SetWarnings struct {
	mu    sync.Mutex
	known map[string][]Condition // by text; the lists are not changed
}

// What is remembered at most.
const (
	longestSet = 256 // bytes
	mostSets   = 1000
)

func (w *SetWarnings) of(text string) ([]Condition, bool) {
	if w == nil {
		return nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list, ok := w.known[text]
	return list, ok
}

func (w *SetWarnings) learn(text string, list []Condition) {
	if w == nil || len(text) > longestSet {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= mostSets {
		w.known = map[string][]Condition{}
	}
	w.known[text] = list
}

// say notes an assignment of system variables as a server is to hear it.
func (s *Set) say(assignment string) { s.said = append(s.said, assignment) }

// Finish ends the assignments.
func (s *Set) Finish() { s.learn(s.before, s.state.Settings) }

// Take has the shard take what a SET changes, and keeps its warnings, of which known may have been told before.
func (s *State) Take(next *Set, known *SetWarnings) error {
	err := s.tryOut(next, known)
	if err == nil && next.mode {
		next.Mode, err = s.readMode(next.Settings)
	}
	return err
}

func (s *State) tryOut(next *Set, known *SetWarnings) error {
	if len(next.said) > 0 && !Wide(s.Settings) && !Wide(next.Settings) {
		return s.hear("SET "+strings.Join(next.said, ", "), next, known)
	}
	undo := s.shard.Anew(next.assigned)
	if undo == nil && next.Settings == s.Settings {
		return nil
	}
	return orUndo(undo, s.Try(next.Settings))
}

func orUndo(undo func(), err error) error {
	if err != nil && undo != nil {
		undo()
	}
	return err
}

// Wide tells whether texts are read in a character set in which words are no words: the settings then go out in another form,
// and warnings are lost.
func Wide(settings *backend.Settings) bool {
	for _, name := range [...]string{characterSetConnection, collationConnection} {
		literal, _ := settings.Lookup(name)
		for _, charset := range [...]string{"ucs2", "utf16", "utf32"} {
			if strings.Contains(literal, charset) {
				return true
			}
		}
	}
	return false
}

// hear learns what a server says to the assignments alone. They run on a connection that carries what the session had before: one
// that must be brought to more than they change would be warned of more.
func (s *State) hear(text string, next *Set, known *SetWarnings) error {
	key := text
	for _, name := range [...]string{"sql_notes", "max_error_count"} { // they change what is told
		literal, _ := s.Settings.Lookup(name)
		key += ";" + literal
	}
	if list, ok := known.of(key); ok {
		s.Conditions = append(s.Conditions, list...)
		return orUndo(s.shard.Anew(next.assigned), s.Try(next.Settings))
	}
	return s.shard.On(s.Settings, func(c Conn) error {
		ok, err := c.Exec(text)
		if err != nil {
			c.Note(backend.State)
			return err
		}
		from := len(s.Conditions)
		if ok.Warnings > 0 {
			rows, err := c.Query(AskWarnings)
			if err != nil {
				return err
			}
			s.Keep(rows)
		}
		known.learn(key, slices.Clone(s.Conditions[from:]))
		return orUndo(s.shard.Anew(next.assigned), c.Carry(next.Settings))
	})
}

// readMode learns what a sql_mode means for the reading of texts; ANSI, say, stands for several modes.
func (s *State) readMode(settings *backend.Settings) (mode stmt.Mode, err error) {
	err = s.shard.On(settings, func(c Conn) error {
		rows, err := c.Query("SELECT @@sql_mode")
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		said := string(rows.Rows[0][0])
		if name := stmt.OtherValues(said); name != "" {
			return wrongValue("Variable 'sql_mode' can't be set to the value of '%s' through the proxy, which would not see what is stored", name)
		}
		mode = stmt.ModeOf(said)
		return nil
	})
	return mode, err
}
