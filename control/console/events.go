package console

import (
	"encoding/json"
	"net/http"
	"time"
)

// sendWithin is the time limit of one event.
const sendWithin = 10 * time.Second

// events sends the state whenever it changes, until the page is closed.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	closed, err := c.pages.open(browserOf(r))
	if err != nil {
		refuseJSON(w, http.StatusTooManyRequests, err)
		return
	}
	defer closed()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		_ = out.SetWriteDeadline(time.Now().Add(sendWithin))
		if _, err := w.Write(c.event(r)); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}

// event returns the state, or the event "gone" if the requested proxy no longer runs.
func (c *Console) event(r *http.Request) []byte {
	c.check.visit(time.Now())
	kind := "state"
	a, err := c.state(c.looks.see(r.Context()), r.FormValue("proxy"), who(r))
	data, jsonErr := json.Marshal(a)
	if err != nil || jsonErr != nil {
		kind = "gone"
		data, _ = json.Marshal(errNoProxy.Error()) // a string
	}
	return []byte("event: " + kind + "\ndata: " + string(data) + "\n\n")
}
