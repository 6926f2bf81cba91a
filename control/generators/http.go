package generators

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"locus/idgen/format"
	"locus/idgen/segment"
	"locus/router/cluster"
)

// Handler serves GET /api/segment/get/{tag}, /api/snowflake/get/{tag} and /api/id/{tag}. The answer is a
// number, as Leaf's clients expect, or one number per line with ?n=. With ?format=json, or if the client
// accepts JSON, it is an object. Other parameters are values for a template.
func Handler(s *Set, declared func() *cluster.Cluster) *API {
	return &API{set: s, declared: declared, Handler: paths(func(w http.ResponseWriter, r *http.Request, allowed kinds) {
		if request, ok := s.requested(w, r, declared(), allowed); ok {
			s.answer(w, r, request, request.Context["format"] == "json" || acceptsJSON(r))
		}
	})}
}

// kinds reports whether a path serves generators of a kind.
type kinds func(cluster.GeneratorKind) bool

// paths returns the handler of the paths, which share one answer function.
func paths(answer func(http.ResponseWriter, *http.Request, kinds)) *http.ServeMux {
	mux := http.NewServeMux()
	get := func(pattern string, allowed kinds) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(w, r, allowed) })
	}
	get("GET /api/segment/get/{tag}", func(k cluster.GeneratorKind) bool { return k != cluster.SnowflakeGenerator })
	get("GET "+snowflakePath+"{tag}", func(k cluster.GeneratorKind) bool { return k == cluster.SnowflakeGenerator })
	get("GET /api/id/{tag}", func(cluster.GeneratorKind) bool { return true })
	return mux
}

const (
	snowflakePath = "/api/snowflake/get/"
	healthPath    = "/healthz"
)

// API serves a process's generators over HTTP.
type API struct {
	http.Handler
	set      *Set
	declared func() *cluster.Cluster
	open     openCounters // counts requests to the port without a login
}

// WithoutLogin returns the handler of a port that needs no login, as in Leaf. It answers clients of the given
// networks, or all clients if there are none. The answer is a plain number, or several with ?n=, unless
// ?format=json is given. If snowflake is not empty, that generator serves undeclared keys of snowflakes,
// because Leaf ignores such a key.
func (a *API) WithoutLogin(networks []netip.Prefix, snowflake string) http.Handler {
	mux := paths(func(w http.ResponseWriter, r *http.Request, allowed kinds) {
		declared := a.declared()
		if _, known := declared.Generators[r.PathValue("tag")]; !known && snowflake != "" && strings.HasPrefix(r.URL.Path, snowflakePath) {
			r.SetPathValue("tag", snowflake)
		}
		if request, ok := a.set.requested(w, r, declared, allowed); ok {
			a.open.numbers.Add(uint64(a.set.answer(w, r, request, request.Context["format"] == "json")))
		}
	})
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := &statusWriter{plain, http.StatusOK}
		if r.URL.Path != healthPath {
			defer func() { a.open.answered(w.status) }()
		}
		client, err := netip.ParseAddrPort(r.RemoteAddr)
		address := client.Addr().Unmap()
		if len(networks) > 0 && (err != nil || !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(address) })) {
			http.Error(w, fmt.Sprintf("no number is issued to %s: ids.allow of this process does not contain it", address), http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// Status returns the status of the open generators.
func (a *API) Status() []Status { return a.set.Status() }

// requested reads a request. If it returns false, it has already answered the client.
func (s *Set) requested(w http.ResponseWriter, r *http.Request, declared *cluster.Cluster, allowed kinds) (request Request, ok bool) {
	request = Request{Declared: declared, Name: r.PathValue("tag"), Count: 1}
	if r.URL.RawQuery != "" {
		if err := request.read(r.URL.Query()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return request, false
		}
	}
	if g, known := declared.Generators[request.Name]; known && !allowed(g.Kind) {
		http.Error(w, fmt.Sprintf("generator %s is of kind %s", request.Name, g.Kind), http.StatusNotFound)
		return request, false
	}
	if allowed(cluster.SegmentGenerator) {
		var err error
		if request, err = s.withTag(r.Context(), request); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return request, false
		}
	}
	return request, true
}

func acceptsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json")
}

// answer writes the numbers, and returns how many there are. They are written as an object or as plain text. A single number is valid JSON too. It gets the
// content type of JSON for clients that accept JSON, because Leaf's clients decode by content type.
func (s *Set) answer(w http.ResponseWriter, r *http.Request, request Request, object bool) int {
	texts, err := s.Next(r.Context(), request)
	switch {
	case errors.Is(err, ErrUnknown), errors.Is(err, segment.ErrUnknownTag):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.As(err, new(format.ValueError)):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case object:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"tag": r.PathValue("tag"), "ids": texts}) // an error means that the client is gone
	case len(texts) == 1 && acceptsJSON(r) && request.Declared.Generators[request.Name].Kind != cluster.FormatGenerator:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, texts[0]) // an error means that the client is gone
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, strings.Join(texts, "\n")) // an error means that the client is gone
	}
	return len(texts)
}

// read reads the query parameters.
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
