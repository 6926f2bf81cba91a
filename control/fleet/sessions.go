package fleet

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/proxy/sysvars"
	"locus/router/stmt"
)

// Limits of an answer to Sessions: the number of sessions of a proxy, and the bytes of a statement's text.
const (
	mostSessions     = 1000
	mostSessionBytes = 500
)

// Session is a client's session at a proxy.
type Session struct {
	Proxy    string `json:"proxy"` // its ID
	ID       uint32 `json:"id"`    // the ID in SHOW PROCESSLIST of that proxy
	User     string `json:"user"`
	Client   string `json:"client"` // host and port
	Database string `json:"database,omitempty"`
	// Command and State are the columns of SHOW PROCESSLIST. Seconds is the time since the state has changed.
	Command string `json:"command"`
	State   string `json:"state,omitempty"`
	Seconds int    `json:"seconds"`
	// Statement is the text of the current statement without its literals, since answers are stored in etcd.
	Statement string `json:"statement,omitempty"`
}

// Runs reports whether the session runs a statement.
func (s *Session) Runs() bool { return s.Command != "Sleep" }

// compareBusy orders sessions that run a statement before others, and those with the longest time first.
func compareBusy(a, b Session) int {
	runs := func(s Session) int {
		if s.Runs() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(runs(a), runs(b)), cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Proxy, b.Proxy), cmp.Compare(a.ID, b.ID))
}

// ownSessions is a proxy's answer to Sessions.
type ownSessions struct {
	Sessions []Session `json:"sessions"`
	Omitted  int       `json:"omitted,omitempty"`
}

// SessionsAnswer returns a proxy's answer to [Sessions].
func SessionsAnswer(list []sysvars.Process) any {
	all := make([]Session, len(list))
	for i, p := range list {
		all[i] = Session{ID: p.ID, User: p.User, Client: p.Host, Command: p.Command, State: p.State, Seconds: p.Time}
		if p.DB != nil {
			all[i].Database = *p.DB
		}
		if p.Info != nil {
			all[i].Statement = *p.Info
		}
	}
	slices.SortFunc(all, compareBusy)
	shown := all[:min(len(all), mostSessions)]
	for i, s := range shown {
		if s.Statement != "" {
			shown[i].Statement = withoutLiterals(s.Statement)
		}
	}
	return Packed[ownSessions]{ownSessions{Sessions: shown, Omitted: len(all) - len(shown)}}
}

// withoutLiterals returns the digest of a statement's text. The session's mode is unknown here, and with it where a string with a backslash ends. A
// text that has another digest in the other mode is not shown.
func withoutLiterals(text string) string {
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	digest := l.Digest(mostSessionBytes).Text
	if !strings.Contains(text, `\`) {
		return digest
	}
	l.Lex([]byte(text), stmt.NoBackslash)
	if l.Digest(mostSessionBytes).Text != digest {
		return "(a text that depends on the sql_mode)"
	}
	return digest
}

// SessionList contains the sessions of all proxies.
type SessionList struct {
	// Sessions are in the order of their cost: those that run a statement first, and the longest ones first among these.
	Sessions []Session `json:"sessions"`
	// Omitted is the number of further sessions, of proxies that have more than they report.
	Omitted int `json:"omitted"`
	// Silent lists the proxies that have not answered.
	Silent []string `json:"silent,omitempty"`
}

// SessionsOf asks all proxies for their sessions.
func SessionsOf(ctx context.Context, kv *etcd.KV) (SessionList, error) {
	answers, err := Ask[Packed[ownSessions]](ctx, kv, Sessions, statementsPatience)
	if err != nil {
		return SessionList{}, err
	}
	list := SessionList{Sessions: []Session{}, Silent: answers.Silent}
	for _, id := range slices.Sorted(maps.Keys(answers.By)) {
		own := answers.By[id].Value
		for _, s := range own.Sessions {
			s.Proxy = id
			list.Sessions = append(list.Sessions, s)
		}
		list.Omitted += own.Omitted
	}
	slices.SortFunc(list.Sessions, compareBusy)
	slices.Sort(list.Silent)
	return list, nil
}
