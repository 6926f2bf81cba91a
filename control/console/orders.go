package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// orders takes what an admin wants of a job.
type orders struct{ cluster Cluster }

// orderPatience bounds the wait for etcd.
const orderPatience = 5 * time.Second

// take is POST /jobs/{id}/{order}, with a percentage where the order needs one.
func (o orders) take(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	order, err := orderOf(r.PathValue("order"), r.PostFormValue("percent"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), orderPatience)
	defer cancel()
	j, err := o.cluster.Tell(ctx, r.PathValue("id"), order, who(r).user+" (dashboard)", time.Now(), nil)
	switch {
	case errors.Is(err, migrate.ErrNoJob):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, migrate.ErrUnknown), errors.Is(err, context.DeadlineExceeded):
		http.Error(w, err.Error()+": look whether it is in the journal", http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "%s: %s\n", j.ID, j.Journal[len(j.Journal)-1].What)
	}
}

func orderOf(name, percent string) (job.Order, error) {
	switch name {
	case "pause":
		return job.Just(name, phase.Pause), nil
	case "resume":
		return job.Just(name, phase.Resume), nil
	case "finish":
		return job.Just(name, phase.Finish), nil
	}
	share, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(share >= 0 && share <= 100) { // what is no number neither
		return job.Order{}, fmt.Errorf("percent=%q: a number from 0 to 100", percent)
	}
	switch name {
	case "next-step":
		return job.NextStep(share), nil
	case "rollback":
		return job.Back(share, 100), nil
	}
	return job.Order{}, fmt.Errorf("there is no order %q", name)
}
