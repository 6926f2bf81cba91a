package generators

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"locus/idgen/format"
	"locus/router/cluster"
)

// Handler answers GET /api/segment/get/{tag}, /api/snowflake/get/{tag} and
// /api/id/{tag}: a number, as Leaf's clients expect, or one a line with ?n=. With
// ?format=json, or where JSON is accepted, it is an object. Further parameters
// are values for a template.
func Handler(s *Set, declared func() *cluster.Cluster) *API {
	mux := http.NewServeMux()
	get := func(allowed func(cluster.GeneratorKind) bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, declared(), allowed) }
	}
	mux.HandleFunc("GET /api/segment/get/{tag}", get(func(k cluster.GeneratorKind) bool { return k != cluster.SnowflakeGenerator }))
	mux.HandleFunc("GET /api/snowflake/get/{tag}", get(func(k cluster.GeneratorKind) bool { return k == cluster.SnowflakeGenerator }))
	mux.HandleFunc("GET /api/id/{tag}", get(func(cluster.GeneratorKind) bool { return true }))
	return &API{mux, s}
}

// API is a process's generators over HTTP.
type API struct {
	http.Handler
	set *Set
}

// Status is that of the open generators.
func (a *API) Status() []Status { return a.set.Status() }

func (s *Set) answer(w http.ResponseWriter, r *http.Request, declared *cluster.Cluster, allowed func(cluster.GeneratorKind) bool) {
	request := Request{Declared: declared, Name: r.PathValue("tag"), Count: 1}
	if r.URL.RawQuery != "" {
		if err := request.read(r.URL.Query()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	if g, known := declared.Generators[request.Name]; known && !allowed(g.Kind) {
		http.Error(w, fmt.Sprintf("generator %s is of kind %s", request.Name, g.Kind), http.StatusNotFound)
		return
	}
	texts, err := s.Next(r.Context(), request)
	switch {
	case errors.Is(err, ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.As(err, new(format.ValueError)):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case request.Context["format"] == "json" || strings.Contains(r.Header.Get("Accept"), "application/json"):
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"tag": request.Name, "ids": texts}) // the client has gone
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, strings.Join(texts, "\n")) // the client has gone
	}
}

// read takes what stands behind the question mark.
func (r *Request) read(query url.Values) error {
	r.Context = make(map[string]string, len(query))
	for name, values := range query {
		r.Context[name] = values[0]
	}
	text := r.Context["n"]
	if text == "" {
		return nil
	}
	var err error
	if r.Count, err = strconv.Atoi(text); err != nil || r.Count < 1 || r.Count > most {
		return fmt.Errorf("n=%s: ask for 1 to %d", text, most)
	}
	return nil
}
