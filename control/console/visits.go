package console

import (
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

// Lifetime and maximum number of sessions.
const (
	visitLasts = 12 * time.Hour
	mostVisits = 256 // sessions of one account; the limit applies to each account, so that no account can end the sessions of another one
	cookieName = "locus_session"
)

// visits holds the sessions of logged-in users. It stores only hashes of cookies. Sessions end with the process.
type visits struct {
	now func() time.Time

	mu   sync.Mutex // guards the fields below
	open map[[sha256.Size]byte]visit
}

type visit struct {
	identity
	ends time.Time
}

func newVisits(now func() time.Time) *visits {
	return &visits{now: now, open: map[[sha256.Size]byte]visit{}}
}

func keyOf(r *http.Request) (key [sha256.Size]byte, given bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return key, false
	}
	return sha256.Sum256([]byte(c.Value)), true
}

// of returns the user of a request.
func (s *visits) of(r *http.Request) (identity, bool) {
	key, given := keyOf(r)
	if !given {
		return identity{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found, there := s.open[key]
	return found.identity, there && s.now().Before(found.ends)
}

// begin starts a session.
func (s *visits) begin(i identity, secure bool) *http.Cookie {
	token := rand.Text() + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(i)
	s.open[sha256.Sum256([]byte(token))] = visit{i, s.now().Add(visitLasts)}
	return cookie(token, int(visitLasts.Seconds()), secure)
}

// makeRoom removes expired sessions, and the account's session that expires first if the account has too many.
func (s *visits) makeRoom(i identity) {
	var first [sha256.Size]byte
	var ends time.Time
	count := 0
	for key, o := range s.open {
		switch {
		case !s.now().Before(o.ends):
			delete(s.open, key)
		case o.identity != i:
		default:
			count++
			if ends.IsZero() || o.ends.Before(ends) {
				first, ends = key, o.ends
			}
		}
	}
	if count >= mostVisits {
		delete(s.open, first)
	}
}

// end ends a session.
func (s *visits) end(r *http.Request, secure bool) *http.Cookie {
	if key, given := keyOf(r); given {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, key)
	}
	return cookie("", -1, secure)
}

func cookie(value string, age int, secure bool) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
}
