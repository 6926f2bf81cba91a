package sysvars

import (
	"slices"
	"strings"
	"sync"

	"locus/proxy/backend"
	"locus/router/stmt"
)

// SetWarnings is a cache of the warnings that servers gave to SET statements. So settings that many sessions use are not tried for each of them.
// A connection that already has them is enough. It is safe for concurrent use. A nil SetWarnings remembers nothing.
type SetWarnings struct {
	mu    sync.Mutex
	known map[string][]Condition // by the text of the SET; the lists are immutable
}

// Limits of the cache.
const (
	longestSet = 256 // in bytes
	mostSets   = 1000
)

func (w *SetWarnings) lookup(text string) ([]Condition, bool) {
	if w == nil {
		return nil, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	list, ok := w.known[text]
	return list, ok
}

func (w *SetWarnings) remember(text string, list []Condition) {
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

// addAssignment records an assignment of system variables, as the server must get it.
func (s *Set) addAssignment(assignment string) { s.assignments = append(s.assignments, assignment) }

// Finish ends the assignments of a SET.
func (s *Set) Finish() { s.mergeComputed(s.before, s.state.Settings) }

// Apply runs the changes of a SET on the shard, and adds its warnings to the conditions. The warnings come from known if the
// same SET ran before.
func (e *Evaluator) Apply(next *Set, known *SetWarnings) error {
	err := e.tryOut(next, known)
	if err == nil && next.mode {
		next.Mode, err = e.readMode(next.Settings)
	}
	return err
}

// tryOut applies a SET on the shard, so that the server can refuse it. It collects warnings if the texts of the assignments can be sent.
func (e *Evaluator) tryOut(next *Set, known *SetWarnings) error {
	if len(next.assignments) > 0 && !Wide(e.Settings) && !Wide(next.Settings) {
		return e.runAssignments("SET "+strings.Join(next.assignments, ", "), next, known)
	}
	undo := e.shard.Reassign(next.assigned)
	if undo == nil && next.Settings == e.Settings {
		return nil
	}
	return orUndo(undo, e.Try(next.Settings))
}

// orUndo returns err, and calls undo if both are not nil.
func orUndo(undo func(), err error) error {
	if err != nil && undo != nil {
		undo()
	}
	return err
}

// Wide reports whether the connection's literals are in a character set with more than one byte for ASCII letters. The settings are then sent in
// another form, and warnings are lost.
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

// RawTexts reports whether servers send texts as byte strings under the settings.
func RawTexts(settings *backend.Settings) bool {
	charset, _ := settings.Names()
	if literal, set := settings.Lookup(characterSetResults); set {
		charset = literal
	}
	return strings.EqualFold(strings.Trim(charset, "'"), "binary")
}

// runAssignments runs only the assignments on a server, to get their warnings. The connection has the session's previous settings. A connection
// with other settings would also get the warnings of those.
func (e *Evaluator) runAssignments(text string, next *Set, known *SetWarnings) error {
	key := text
	for _, name := range [...]string{"sql_notes", "max_error_count"} { // these variables determine which warnings a server returns
		literal, _ := e.Settings.Lookup(name)
		key += ";" + literal
	}
	if list, ok := known.lookup(key); ok {
		e.Conditions = append(e.Conditions, list...)
		return orUndo(e.shard.Reassign(next.assigned), e.Try(next.Settings))
	}
	return e.shard.On(e.Settings, func(c Conn) error {
		ok, err := c.Exec(text)
		if err != nil {
			c.Note(backend.State)
			return err
		}
		from := len(e.Conditions)
		if ok.Warnings > 0 {
			rows, err := c.Query(AskWarnings)
			if err != nil {
				c.Note(backend.State) // the assignments took effect
				return err
			}
			e.Keep(rows)
		}
		known.remember(key, slices.Clone(e.Conditions[from:]))
		return orUndo(e.shard.Reassign(next.assigned), c.Carry(next.Settings))
	})
}

// readMode asks the shard how a sql_mode changes the parsing of texts. A mode such as ANSI implies several others.
func (e *Evaluator) readMode(settings *backend.Settings) (mode stmt.Mode, err error) {
	err = e.shard.On(settings, func(c Conn) error {
		rows, err := c.Query("SELECT @@sql_mode")
		if err != nil || len(rows.Rows) != 1 {
			return err
		}
		resolved := string(rows.Rows[0][0])
		if name := stmt.OtherValues(resolved); name != "" {
			return wrongValue("Variable 'sql_mode' can't be set to the value of '%s' through the proxy, which would not see what is stored", name)
		}
		mode = stmt.ModeOf(resolved)
		return nil
	})
	return mode, err
}
