package generators

import (
	"net/http"
	"sync/atomic"
)

// OpenCounts counts the requests of a port that needs no login.
type OpenCounts struct {
	ByStatus map[int]uint64 // requests by HTTP status, those for /healthz left out
	Numbers  uint64         // numbers and texts in the answers
}

// openStatuses are the statuses of all answers of such a port.
var openStatuses = [...]int{
	http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusServiceUnavailable,
}

// openCounters is safe for concurrent use.
type openCounters struct {
	byStatus [len(openStatuses)]atomic.Uint64
	numbers  atomic.Uint64
}

func (c *openCounters) answered(status int) {
	for i, s := range openStatuses {
		if s == status {
			c.byStatus[i].Add(1)
		}
	}
}

// OpenCounts returns the counts of the port without a login.
func (a *API) OpenCounts() OpenCounts {
	counts := OpenCounts{ByStatus: make(map[int]uint64, len(openStatuses)), Numbers: a.open.numbers.Load()}
	for i, status := range openStatuses {
		counts.ByStatus[status] = a.open.byStatus[i].Load()
	}
	return counts
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
