package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// toldPause is between two looks at what is told of a server.
const toldPause = 50 * time.Millisecond

// told waits until who looks at the cluster is told that a shard is not well: by the state that the page's title and its strip of
// health are made of, and locus status likewise, and by the metric that alerts are made of.
func (s *outages) told(ctx context.Context, shard string) error {
	ctx, cancel := context.WithTimeout(ctx, outagePatience)
	defer cancel()
	for _, tells := range []func(context.Context, string) (bool, error){s.stateTells, s.metricTells} {
		for {
			is, err := tells(ctx, shard)
			if err != nil {
				return err
			}
			if is {
				break
			}
			if err := sleep(ctx, toldPause); err != nil {
				return fmt.Errorf("that %s is not well is not told: %w", shard, err)
			}
		}
	}
	return nil
}

// stateTells looks at the state of the whole cluster.
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

// metricTells looks for a state of one of the shard's servers that is not well.
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
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.ready.HTTP.URL+path, nil)
	if err != nil {
		return nil, err
	}
	r.SetBasicAuth(s.ready.HTTP.User, s.ready.HTTP.Password)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return io.ReadAll(answer.Body)
}
