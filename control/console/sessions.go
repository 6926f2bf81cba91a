package console

import (
	"fmt"
	"net/http"
	"time"

	"locus/control/fleet"
)

// sessionsAnswer contains the clients' sessions at all proxies, those that run a statement first, and the longest first among these.
type sessionsAnswer struct {
	Schema   int             `json:"schema"`
	Sessions []fleet.Session `json:"sessions"`
	Omitted  int             `json:"omitted"`          // further sessions
	Silent   []string        `json:"silent,omitempty"` // proxies that have not answered
}

// Limits of the answer, sufficient for a page.
const (
	mostSessions     = 200
	sessionsEvery    = 2 * time.Second
	sessionsPatience = 5 * time.Second
)

func newSessions(c Cluster) *lately[fleet.SessionList] {
	return &lately[fleet.SessionList]{every: sessionsEvery, patience: sessionsPatience, find: c.Sessions}
}

func (c *Console) getSessions(w http.ResponseWriter, r *http.Request) {
	list, err := c.sessions.get(r.Context())
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("the sessions of the proxies: %w", err))
		return
	}
	shown := list.Sessions[:min(len(list.Sessions), mostSessions)]
	writeJSON(w, sessionsAnswer{schema, shown, list.Omitted + len(list.Sessions) - len(shown), list.Silent})
}
