package etcd

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Health is the state of one endpoint.
type Health struct {
	Endpoint string
	Err      error // it doesn't answer, and the fields below are unknown
	Version  string
	Leader   bool // it knows a leader
	// Size is the size of its database file, and InUse the used part. It accepts no write beyond Quota. 0 means
	// unknown.
	Size, InUse, Quota int64
	Alarms             []string
	// Clock is its time in whole seconds when it was queried, or zero if unknown.
	Clock time.Time
}

// Health queries all endpoints concurrently.
func (c *Client) Health(ctx context.Context) []Health {
	all := make([]Health, len(c.config.Endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range c.config.Endpoints {
		asking.Go(func() { all[i] = c.health(ctx, endpoint) })
	}
	asking.Wait()
	return all
}

func (c *Client) health(ctx context.Context, endpoint string) Health {
	h := Health{Endpoint: endpoint}
	h.Err = c.request(ctx, func(ctx context.Context, conn *clientv3.Client) error {
		s, err := conn.Status(ctx, endpoint)
		if err != nil {
			return err
		}
		h.Version, h.Leader, h.Alarms = s.Version, s.Leader != 0, s.Errors
		h.Size, h.InUse, h.Quota = s.DbSize, s.DbSizeInUse, s.DbSizeQuota
		return nil
	})
	if h.Err == nil {
		h.Clock = c.clock(ctx, endpoint)
	}
	return h
}

// clock returns the Date of an HTTP response from the member's port, because the etcd protocol doesn't include the
// time.
func (c *Client) clock(ctx context.Context, endpoint string) time.Time {
	ctx, cancel := context.WithTimeout(ctx, c.config.RequestTimeout)
	defer cancel()
	transport := &http.Transport{TLSClientConfig: c.config.TLS}
	defer transport.CloseIdleConnections()
	if !strings.Contains(endpoint, "://") {
		scheme := "http"
		if c.config.TLS != nil {
			scheme = "https"
		}
		endpoint = fmt.Sprintf("%s://%s", scheme, endpoint)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(endpoint, "/")+"/version", nil)
	if err != nil {
		return time.Time{}
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return time.Time{}
	}
	_ = answer.Body.Close()
	at, _ := http.ParseTime(answer.Header.Get("Date"))
	return at
}
