package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed assets
var assets embed.FS

// tags tell a browser whether it has an asset already.
var tags = func() map[string]string {
	all := map[string]string{}
	_ = fs.WalkDir(assets, "assets", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := assets.ReadFile(path) // it is compiled in
			sum := sha256.Sum256(text)
			all[strings.TrimPrefix(path, "assets/")] = `"` + hex.EncodeToString(sum[:8]) + `"`
		}
		return err
	})
	return all
}()

// asset serves what pages load. There is nothing in it that isn't public.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasSuffix(name, ".html") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if tag, there := tags[name]; there {
		w.Header().Set("ETag", tag)
	}
	http.ServeFileFS(w, r, assets, "assets/"+name)
}

var pageTemplate = template.Must(template.New("page.html").ParseFS(assets, "assets/page.html"))

// page is the page without anything in it: scripts ask for the state.
func (c *Console) page(w http.ResponseWriter, r *http.Request) {
	headers(w)
	_ = pageTemplate.Execute(w, map[string]any{"Version": c.options.Version, "User": who(r).user, "Role": who(r).role, "Modules": modules})
}

// modules are the page's scripts, so that a browser asks for all of them at once.
var modules = func() []string {
	var names []string
	entries, _ := assets.ReadDir("assets") // it is compiled in
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".js") {
			names = append(names, e.Name())
		}
	}
	return names
}()
