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

// settingsTable holds all Settings in use, with weak pointers. An entry goes when its last holder (a session, a connection)
// goes. So the table is as large as its holders need and requires no limit.
type settingsTable struct {
	mu    sync.Mutex // never held across a call to other code
	known map[string]weak.Pointer[Settings]
}

var interned = settingsTable{known: make(map[string]weak.Pointer[Settings])}

// intern returns the one pointer for settings that equal s. It takes ownership of s.variables.
func intern(s Settings) *Settings {
	return interned.get(s.key(), s)
}

// derive sets the functions that return settings derived from s.
func (s *Settings) derive() {
	s.bare, s.typed = none, none
	if slices.ContainsFunc(s.variables, Assignment.user) {
		s.bare = sync.OnceValue(func() *Settings { return bareOf(*s) })
		s.typed = sync.OnceValue(func() *Settings { return typedOf(*s) })
	}
}

func none() *Settings { return nil }

func bareOf(s Settings) *Settings {
	s.variables = slices.DeleteFunc(slices.Clone(s.variables), Assignment.user)
	return intern(s)
}

// typedOf returns the settings with user variables ordered by name and reduced to their types. It returns nil if s has that
// form already.
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
	fresh.derive()
	t.known[key] = weak.Make(fresh)
	runtime.AddCleanup(fresh, t.forget, key)
	return fresh
}

// forget runs after the settings with this key were collected. Equal ones may have been made again by then.
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

// spelled is the longest key in bytes that contains the settings themselves. Longer keys are hashed, so that the table
// doesn't hold a second copy of large values.
const spelled = 1 << 10

// key returns a unique key for s: its parts, each preceded by its length, or their SHA-256.
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
		return "#" + string(sum[:]) // other keys begin with a digit
	}
	return string(b)
}
