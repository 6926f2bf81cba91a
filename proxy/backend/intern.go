package backend

import (
	"crypto/sha256"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"
)

// settingsTable holds every Settings that is in use, weakly: an entry goes when its last holder (a session, a connection)
// goes, so the table is as large as what they hold and needs no limit of its own.
type settingsTable struct {
	mu    sync.Mutex // never held across a call out
	known map[string]weak.Pointer[Settings]
}

var interned = settingsTable{known: make(map[string]weak.Pointer[Settings])}

// intern gives the one pointer for settings that equal s. It takes over s.variables.
func intern(s Settings) *Settings {
	s.bare, s.typed = bareOf(s), typedOf(s)
	return interned.get(s.key(), s)
}

func bareOf(s Settings) *Settings {
	if !slices.ContainsFunc(s.variables, Assignment.user) {
		return nil
	}
	s.variables = slices.DeleteFunc(slices.Clone(s.variables), Assignment.user)
	return intern(s)
}

// typedOf gives the user variables in the order of their names. It is nil for settings that are so themselves.
func typedOf(s Settings) *Settings {
	var users []Assignment
	for _, a := range s.variables {
		if a.user() {
			users = append(users, Assignment{a.Name, typeOf(a.Literal)})
		}
	}
	slices.SortFunc(users, func(a, b Assignment) int { return strings.Compare(a.Name, b.Name) })
	typed := append(slices.DeleteFunc(slices.Clone(s.variables), Assignment.user), users...)
	if slices.Equal(typed, s.variables) {
		return nil
	}
	s.variables = typed
	return intern(s)
}

func (t *settingsTable) get(key string, s Settings) *Settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.known[key].Value(); known != nil {
		return known
	}
	fresh := new(s)
	t.known[key] = weak.Make(fresh)
	runtime.AddCleanup(fresh, t.forget, key)
	return fresh
}

// forget runs after the settings with this key were collected; by then equal ones may have been made anew.
func (t *settingsTable) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[key].Value() == nil {
		delete(t.known, key)
	}
}

func (t *settingsTable) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.known)
}

// spelled is how long a key may be that spells the settings out, in bytes. Longer ones are hashed, so that the table doesn't
// hold large values of variables once more.
const spelled = 1 << 10

// key tells s from all other settings: it spells them, every part preceded by its length, or has their SHA-256.
func (s *Settings) key() string {
	var b []byte
	part := func(p string) {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(append(b, ':'), p...)
	}
	part(s.database)
	part(s.charset)
	part(s.collation)
	for _, a := range s.variables {
		part(a.Name)
		part(a.Literal)
	}
	if len(b) > spelled {
		sum := sha256.Sum256(b)
		return "#" + string(sum[:]) // a key that spells begins with a digit
	}
	return string(b)
}
