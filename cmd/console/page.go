package console

import (
	"html/template"
	"net/http"
)

var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>locus</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884 }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } pre { overflow-x: auto } .bad { color: #c33 }
</style>
<h1>locus {{.Version}}</h1>
<p>Route map version {{.Status.MapVersion}} · {{.Status.Live}} · {{.Status.Sessions}} sessions{{if .Status.Draining}} · <b>draining</b>{{end}}</p>
{{with .Status.Problems}}<pre class="bad">{{.}}</pre>{{end}}
<h2>Shards</h2>
<table><tr><th>shard<th class="n">in use<th class="n">idle<th class="n">waiting<th class="n">login failures</tr>
{{range $name, $p := .Status.Pools}}<tr><td>{{$name}}<td class="n">{{$p.Lent}}<td class="n">{{$p.Idle}}<td class="n">{{$p.Waiting}}<td class="n">{{$p.LoginFailures}}</tr>
{{end}}</table>
<h2>Routes</h2><pre>{{.Routes}}</pre>
<p><a href="jobs">moves</a> · <a href="metrics">metrics</a></p>
`))

func page(p Proxy, version string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_ = pageTemplate.Execute(w, map[string]any{"Version": version, "Status": p.Status(), "Routes": p.Routes()})
	}
}
