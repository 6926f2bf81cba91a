package fakeshard

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/router"
)

// Client is a session as its connections use it: txn.Client, Interrupts and Observer. Tests set its results,
// and read how it was called.
type Client struct {
	t      testing.TB
	Values sysvars.Values
	Server flavor.Flavor

	Stopped error // if set, the error that prevents any further statement
	Refused error // if set, the error with which Await refuses a connection
	Killed  bool  // every removed connection was hit by a kill

	Awaited  []*backend.Conn
	Shields  int // total number of calls of Shield
	shielded int // calls of Shield without an Unshield yet
	Borrowed int
	Reserved int // number of changes of the reserved connections
}

func (c *Client) Settings() *backend.Settings {
	if !c.Values.Autocommit {
		return c.Values.Settings.With("autocommit", "0")
	}
	return c.Values.Settings
}

func (c *Client) Profile() backend.Profile { return 0 }
func (c *Client) Autocommit() bool         { return c.Values.Autocommit }
func (c *Client) Flavor() flavor.Flavor    { return c.Server }
func (c *Client) Unwanted() error          { return c.Stopped }
func (c *Client) Waits() context.Context   { return context.Background() }
func (c *Client) Shield()                  { c.shielded++; c.Shields++ }
func (c *Client) Unshield()                { c.shielded-- }
func (c *Client) Waited(time.Duration)     { c.Borrowed++ }
func (c *Client) Trace() *trace.Statement  { return nil }

// Queried implements txn.Observer.
func (c *Client) Queried(router.ShardName) {}

// Reserves implements txn.Observer.
func (c *Client) Reserves(string, func(router.ShardName) uint32) { c.Reserved++ }

func (c *Client) Await(_ *backend.Pool, conn *backend.Conn) error {
	if c.Refused == nil {
		c.Awaited = append(c.Awaited, conn)
	}
	return c.Refused
}

func (c *Client) Remove(conn *backend.Conn) bool {
	if !slices.Contains(c.Awaited, conn) {
		c.t.Errorf("a connection to %s is given back twice", conn.Shard())
	}
	c.Awaited = slices.DeleteFunc(c.Awaited, func(other *backend.Conn) bool { return other == conn })
	return c.Killed
}

// Cluster is the view of a session: three shards, and pools of connections to them.
type Cluster struct {
	Client *Client
	Pools  *backend.Registry
	Shards map[router.ShardName]*Server
}

// NewCluster starts s0, s1 and s2. When the test ends, all connections must have been returned to the pools.
func NewCluster(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{
		Client: &Client{t: t, Values: sysvars.Values{Settings: backend.Default, Autocommit: true}},
		Pools:  backend.NewRegistry(backend.Limits{}, slog.New(slog.DiscardHandler)),
		Shards: map[router.ShardName]*Server{},
	}
	var targets []backend.Target
	for _, name := range []router.ShardName{"s0", "s1", "s2"} {
		c.Shards[name] = Start(t)
		targets = append(targets, c.Shards[name].Target(name))
	}
	c.Pools.Apply(targets)
	t.Cleanup(func() {
		if n := len(c.Client.Awaited); n != 0 {
			t.Errorf("%d connections are still awaited", n)
		}
		if c.Client.shielded != 0 {
			t.Errorf("shielded %d times more than unshielded", c.Client.shielded)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // bounds the wait for connections that were not returned
		defer cancel()
		if err := c.Pools.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Statements returns the statements received since the last call, without settings.
func (s *Server) Statements() []string {
	return slices.DeleteFunc(s.Sent(), func(text string) bool {
		return strings.HasPrefix(text, "SET ") && !strings.HasPrefix(text, "SET TRANSACTION") || text == "RESET"
	})
}
