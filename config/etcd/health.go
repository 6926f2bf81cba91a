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

// Health is what one endpoint says of itself.
type Health struct {
	Endpoint string
	Err      error // it does not answer; nothing below is known
	Version  string
	Leader   bool // it knows of one
	// Size is of its file, of which InUse holds something; it takes no write beyond
	// Quota. 0: it does not say.
	Size, InUse, Quota int64
	Alarms             []string
	// Clock is its time, in whole seconds, when it was asked; zero: it does not say.
	Clock time.Time
}

// Health asks every endpoint by itself, all at once.
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

// clock is the date of an answer over HTTP, which a member gives at the same port:
// the protocol itself tells no time.
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
