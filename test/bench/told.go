package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// toldPause is the time between two checks.
const toldPause = 50 * time.Millisecond

// told contains the times until an operator can notice a problem of a shard: in the state, which the page's title and locus
// status show; in the metric; and in the alert on that metric.
type told struct{ state, metric, alert time.Duration }

// told waits until all three show the problem, and returns the times from since on.
func (s *outages) told(ctx context.Context, shard string, since time.Time) (t told, err error) {
	ctx, cancel := context.WithTimeout(ctx, outagePatience)
	defer cancel()
	var looking sync.WaitGroup
	failed := make(chan error, 3)
	for of, tells := range map[*time.Duration]func(context.Context, string) (bool, error){
		&t.state: s.stateTells, &t.metric: s.metricTells, &t.alert: s.prometheus.tells,
	} {
		looking.Go(func() {
			if err := until(ctx, shard, tells); err != nil {
				cancel()
				failed <- err
			}
			*of = time.Since(since)
		})
	}
	looking.Wait()
	close(failed)
	return t, <-failed
}

// until repeats a check until it reports that a shard is unwell.
func until(ctx context.Context, shard string, tells func(context.Context, string) (bool, error)) error {
	for {
		if is, err := tells(ctx, shard); is || err != nil {
			return err
		}
		if err := sleep(ctx, toldPause); err != nil {
			return fmt.Errorf("that %s is not well is not told: %w", shard, err)
		}
	}
}

// stateTells checks the state of the whole cluster.
func (s *outages) stateTells(ctx context.Context, shard string) (bool, error) {
	body, err := s.fetch(ctx, "/v1/state")
	if err != nil {
		return false, err
	}
	var state struct {
		Well  bool   `json:"well"`
		Worst string `json:"worst"`
	}
	if err := json.Unmarshal(body, &state); err != nil {
		return false, fmt.Errorf("/v1/state: %w", err)
	}
	return !state.Well && strings.Contains(state.Worst, "shard "+shard), nil
}

// metricTells checks the metric for a server of the shard that is not well.
func (s *outages) metricTells(ctx context.Context, shard string) (bool, error) {
	body, err := s.fetch(ctx, "/metrics")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, "locus_server_state{") && strings.Contains(line, `shard="`+shard+`"`) &&
			(strings.Contains(line, `state="slow"`) || strings.Contains(line, `state="frozen"`)) && strings.HasSuffix(line, " 1\n") {
			return true, nil
		}
	}
	return false, nil
}

// fetch reads a page of the first proxy.
func (s *outages) fetch(ctx context.Context, path string) ([]byte, error) {
	return fetch(ctx, s.ready.HTTP.URL+path, s.ready.HTTP.User, s.ready.HTTP.Password)
}

func fetch(ctx context.Context, url, user, password string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
