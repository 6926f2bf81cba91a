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

// Client is a session as its connections see it: txn.Client, Interrupts and Observer. Tests set what it says, and see what it was told.
type Client struct {
	t      testing.TB
	Values sysvars.Values
	Server flavor.Flavor

	Stopped error // why nothing more is sent
	Refused error // why a connection is not awaited
	Killed  bool  // whatever is taken out was hit by a kill

	Awaited  []*backend.Conn
	Shields  int // in all
	shielded int // now
	Borrowed int
	Reserved int // how often what is reserved has changed
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

// Asked implements txn.Observer.
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

// Cluster is a session's: three shards, and pools of connections to them.
type Cluster struct {
	Client *Client
	Pools  *backend.Registry
	Shards map[router.ShardName]*Server
}

// NewCluster starts s0, s1 and s2. When the test ends, each pool must have got everything back.
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
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // of what is missing
		defer cancel()
		if err := c.Pools.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// Statements gives what came since the last time, but for settings.
func (s *Server) Statements() []string {
	return slices.DeleteFunc(s.Sent(), func(text string) bool {
		return strings.HasPrefix(text, "SET ") && !strings.HasPrefix(text, "SET TRANSACTION") || text == "RESET"
	})
}
