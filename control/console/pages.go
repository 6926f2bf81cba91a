package console

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"sync"
)

// Limits of event streams. Each account has limits of its own, so no account can use up the streams of another one. A
// browser is a session, or an address that logs in with each request. Its lower limit leaves room for the other people who
// log in with the same account.
const (
	mostPages          = 64 // of an account
	mostPagesOfBrowser = 16
)

// pages counts the event streams of each account and of each of its browsers. It is safe for concurrent use. The number of
// accounts, which the configuration sets, bounds its size.
type pages struct {
	mu       sync.Mutex // guards the fields below
	accounts map[identity]int
	browsers map[browser]int
}

type browser struct {
	identity
	name string
}

func newPages() *pages { return &pages{accounts: map[identity]int{}, browsers: map[browser]int{}} }

// open counts a stream until the caller calls closed, or returns an error that says which limit is reached.
func (p *pages) open(b browser) (closed func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.browsers[b] >= mostPagesOfBrowser:
		return nil, fmt.Errorf("this browser or address has %d event streams open as user %s, which is the limit: close some of its pages", mostPagesOfBrowser, b.user)
	case p.accounts[b.identity] >= mostPages:
		return nil, fmt.Errorf("user %s has %d event streams open, which is the limit of an account: close some of its pages, or log in with another account", b.user, mostPages)
	}
	p.browsers[b]++
	p.accounts[b.identity]++
	return func() { p.close(b) }, nil
}

func (p *pages) close(b browser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.browsers[b]--; p.browsers[b] == 0 {
		delete(p.browsers, b)
	}
	if p.accounts[b.identity]--; p.accounts[b.identity] == 0 {
		delete(p.accounts, b.identity)
	}
}

// browserOf returns the browser that sent an admitted request.
func browserOf(r *http.Request) browser {
	b := browser{identity: who(r)}
	if key, given := keyOf(r); given && r.Header.Get("Authorization") == "" {
		b.name = hex.EncodeToString(key[:])
	} else {
		b.name = addressOf(r).String()
	}
	return b
}
