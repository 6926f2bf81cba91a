package console

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"locus/config"
	"locus/control/fleet"
	"locus/control/overview"
)

// schema is the version of the JSON answers. Fields may be added within a version. An incompatible change gets another
// version and another path.
const schema = 1

// stateAnswer is the state of the cluster, or of one proxy.
type stateAnswer struct {
	Schema int    `json:"schema"`
	Proxy  string `json:"proxy,omitempty"` // the proxy whose figures these are; empty for all
	*overview.State
	Moves  []moveAnswer `json:"moves"` // with more details than State has
	Doctor doctorAnswer `json:"doctor"`
	// Server is the process that answers. Silent lists the proxies that did not answer in time.
	Server string   `json:"server"`
	Build  string   `json:"build"`
	Silent []string `json:"silent,omitempty"`
	You    you      `json:"you"`
}

type doctorAnswer struct {
	At      time.Time `json:"at,omitzero"`       // when it last ran; omitted if never
	Problem string    `json:"problem,omitempty"` // why it could not run
}

// doctor returns when doctor last ran.
func (c *Console) doctor(s *sight) doctorAnswer { return doctorAnswer{s.Report.At, c.check.problem()} }

// you is the user of the request.
type you struct {
	User  string      `json:"user"`
	Role  config.Role `json:"role"`
	Admin bool        `json:"admin"`
}

var errNoProxy = errors.New("there is no proxy of this name, or it has ended")

// state converts a sight into an answer.
func (c *Console) state(s *sight, proxy string, i identity) (*stateAnswer, error) {
	if proxy != "" && !slices.ContainsFunc(s.Cards, func(card fleet.Card) bool { return card.ID == proxy }) {
		return nil, errNoProxy
	}
	seen := s.Seen
	seen.Only = proxy
	a := &stateAnswer{
		Schema: schema, Proxy: proxy, State: overview.Of(seen), Moves: []moveAnswer{}, Doctor: c.doctor(s),
		Server: c.options.Self.ID, Build: c.options.Version, Silent: s.Now.Silent, You: you{i.user, i.role, i.may(config.Admin)},
	}
	for n, m := range s.Moves {
		a.Moves = append(a.Moves, newMove(a.State.Moves[n], m, i.may(config.Admin), s.At))
	}
	return a, nil
}

func (c *Console) getState(w http.ResponseWriter, r *http.Request) {
	c.check.visit(time.Now())
	a, err := c.state(c.looks.see(r.Context()), r.FormValue("proxy"), who(r))
	if err != nil {
		refuseJSON(w, http.StatusNotFound, err)
		return
	}
	writeJSON(w, a)
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		refuseJSON(w, http.StatusInternalServerError, err)
		return
	}
	jsonHeaders(w)
	if _, accepted := w.(packing); accepted && len(text) > leastPacked {
		w.Header().Set("Content-Encoding", "gzip")
		into := gzip.NewWriter(w)
		_, _ = into.Write(text)
		_ = into.Close()
		return
	}
	_, _ = w.Write(text)
}

// packing is the writer of a client that accepts compressed answers.
type packing struct{ http.ResponseWriter }

// leastPacked is the length in bytes from which an answer is compressed.
const leastPacked = 2000

// packed compresses answers of JSON for clients that accept it.
func packed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w = packing{w}
		}
		h(w, r)
	}
}

func jsonHeaders(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
}

// refuseJSON answers with an error.
func refuseJSON(w http.ResponseWriter, status int, err error) {
	jsonHeaders(w)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"schema": schema, "error": err.Error()})
}
