package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"locus/control/newshard"
	"locus/control/ops"
)

// slowOperations fills a shard in longer than the server's own limit for an answer.
type slowOperations struct {
	Operations
	takes time.Duration
}

func (s slowOperations) FillShard(ctx context.Context, r ops.FillShard, by string) (*ops.Fill, []newshard.Filled, error) {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	return s.Operations.FillShard(ctx, r, by)
}

// TestALongRequestIsAnswered although it takes longer than the server's limit for other answers.
func TestALongRequestIsAnswered(t *testing.T) {
	c := newConsole(&fakeCluster{})
	const limit = 50 * time.Millisecond
	c.options.Operations = slowOperations{c.options.Operations, 4 * limit}
	server := httptest.NewUnstartedServer(c)
	server.Config.WriteTimeout = limit
	server.Start()
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/calls/shard_fill", strings.NewReader(`{"shard": "s2"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth("admin", "pass")
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
}
