package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"locus/control/events"
)

// eventsAnswer is a page of the timeline, the latest event first.
type eventsAnswer struct {
	Schema int           `json:"schema"`
	Events []events.View `json:"events"`
	Next   string        `json:"next,omitempty"` // the parameter after of the next page; a page may have fewer events than its limit, or none
}

func (c *Console) getEvents(w http.ResponseWriter, r *http.Request) {
	q, err := c.eventsQuery(r)
	if err != nil {
		refuseJSON(w, http.StatusBadRequest, err)
		return
	}
	page, err := c.options.Cluster.Timeline(r.Context(), q)
	if err != nil {
		refuseJSON(w, http.StatusServiceUnavailable, fmt.Errorf("the timeline: %w", err))
		return
	}
	writeJSON(w, eventsAnswer{schema, events.Views(page.Events), page.Next})
}

// eventsQuery reads the parameters of a request.
func (c *Console) eventsQuery(r *http.Request) (q events.Query, err error) {
	q = events.Query{Subject: r.FormValue("subject"), After: r.FormValue("after")}
	for name := range strings.SplitSeq(r.FormValue("kind"), ",") {
		if name == "" {
			continue
		}
		k, err := events.ParseKind(name)
		if err != nil {
			return q, fmt.Errorf("kind: %w", err)
		}
		q.Kinds = append(q.Kinds, k)
	}
	now := c.options.Now()
	if since := r.FormValue("since"); since != "" {
		if q.Since, err = events.Moment(since, now); err != nil {
			return q, fmt.Errorf("since: %w", err)
		}
	}
	if until := r.FormValue("until"); until != "" {
		if q.Until, err = events.Moment(until, now); err != nil {
			return q, fmt.Errorf("until: %w", err)
		}
	}
	if limit := r.FormValue("limit"); limit != "" {
		if q.Limit, err = strconv.Atoi(limit); err != nil || q.Limit < 1 || q.Limit > events.MaxLimit {
			return q, fmt.Errorf("limit %q: use a number from 1 to %d", limit, events.MaxLimit)
		}
	}
	return q, nil
}
