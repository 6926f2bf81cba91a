package session

import (
	"locus/proxy/backend"
	"locus/proxy/flavor"
	"locus/proxy/interrupt"
	"locus/proxy/reply"
	"locus/proxy/sysvars"
)

// choices provides the client's settings for its connections to shards. It implements [txn.Client].
type choices struct {
	vars   *sysvars.State
	client *reply.Client
	flavor func() flavor.Flavor
}

func (c choices) Settings() *backend.Settings { return c.vars.Settings }
func (c choices) Profile() backend.Profile    { return c.client.Profile() }
func (c choices) Autocommit() bool            { return c.vars.Autocommit }
func (c choices) Flavor() flavor.Flavor       { return c.flavor() }

// interrupts adapts the session's interrupt handle to the interface that its connections need.
type interrupts struct{ *interrupt.Handle }

func (i interrupts) Await(pool *backend.Pool, c *backend.Conn) error { return i.Handle.Await(pool, c) }
func (i interrupts) Remove(c *backend.Conn) (killed bool)            { return i.Handle.Remove(c) }
