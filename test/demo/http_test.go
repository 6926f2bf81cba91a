package demo

import (
	"encoding/json"
	"net/http"
	"strings"
)

// ask sends a request to the console as its admin, a POST if there is a body. It returns the status.
func (d *demo) ask(path, body string, answer any) int {
	d.t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.HTTP.URL+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.SetBasicAuth(d.HTTP.User, d.HTTP.Password)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(answer); err != nil {
		d.t.Fatalf("%s: %s: %v", path, got.Status, err)
	}
	return got.StatusCode
}

// previews requests the plan of a split, which begins nothing, and gives orders that are refused.
func (d *demo) previews() {
	d.t.Helper()
	var p struct {
		Job      string
		Genes    int
		Problems []any
		Unasked  string
		Error    string
	}
	if status := d.ask("/v1/previews/split", `{"from": "s1", "to": "s2", "genes": "half"}`, &p); status != http.StatusOK || p.Genes != 16384 || len(p.Problems) > 0 || p.Unasked != "" {
		d.t.Errorf("the preview of a split: %d %+v", status, p)
	}
	for body, want := range map[string]int{
		`{"from": "s1", "to": "s9", "genes": "half"}`: http.StatusConflict, `{"arguments": ["s1", "s2", "half"]}`: http.StatusBadRequest, `{"from": "s1", "to": "s2"}`: http.StatusBadRequest,
	} {
		for _, path := range []string{"/v1/previews/split", "/v1/calls/split"} {
			if status := d.ask(path, body, &p); status != want || p.Error == "" {
				d.t.Errorf("%s %s: %d %s, want %d", path, body, status, p.Error, want)
			}
		}
	}
	if status := d.ask("/v1/previews/pause", `{"job": "split-1"}`, &p); status != http.StatusNotFound {
		d.t.Errorf("the preview of what begins nothing: %d", status)
	}
}
