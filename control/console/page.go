package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed assets
var assets embed.FS

// file is an asset as served. A browser compares the tag with its cached copy.
type file struct {
	tag          string
	text, packed []byte // compressed with gzip
}

// files are all assets except templates, by name.
var files = func() map[string]file {
	all := map[string]file{}
	entries, _ := assets.ReadDir("assets") // it is compiled in
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".html") {
			continue
		}
		text, _ := assets.ReadFile("assets/" + e.Name())
		sum := sha256.Sum256(text)
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(text) // a write to memory
		_ = w.Close()
		all[e.Name()] = file{hex.EncodeToString(sum[:8]), text, packed.Bytes()}
	}
	return all
}()

// asset serves the files that pages load, all of which are public.
func asset(w http.ResponseWriter, r *http.Request) {
	f, there := files[r.PathValue("name")]
	if !there {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+f.tag+`"`)
	body := f.text
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
		h.Set("ETag", `"`+f.tag+`-gzip"`)
	}
	http.ServeContent(w, r, r.PathValue("name"), time.Time{}, bytes.NewReader(body))
}

var pageTemplate = template.Must(template.New("page.html").ParseFS(assets, "assets/page.html"))

// page serves the page without data. Scripts request the state.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	headers(w)
	_ = pageTemplate.Execute(w, map[string]any{"Version": c.options.Version, "User": who(r).user, "Role": who(r).role, "Modules": modules})
}

// modules are the modules of the page, so that a browser loads all of them at once.
var modules = func() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".js") && name != "theme.js" {
			names = append(names, name)
		}
	}
	return names
}()
