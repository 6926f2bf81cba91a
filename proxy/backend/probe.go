package backend

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/health"
	"locus/router"
)

// probing is a query that needs no table, no privilege and no disk access.
const probing = "SELECT @@GLOBAL.read_only"

// Probe checks whether the server answers. It uses a connection reserved for probes, beyond the pool's limit, because the
// result matters most when all other connections are in use. It isn't safe for concurrent use.
func (p *Pool) Probe(ctx context.Context) health.Report {
	c, kept, err := p.proberOf(ctx)
	if err != nil {
		return reportOf(err)
	}
	rows, err := c.Own().Query(ctx, probing)
	if err != nil && kept && ctx.Err() == nil && !c.Usable() { // the connection was closed while idle, or killed, which reveals little about the server
		c.close()
		if c, _, err = p.proberOf(ctx); err != nil {
			return reportOf(err)
		}
		rows, err = c.Own().Query(ctx, probing)
	}
	p.keepProber(c)
	if err != nil {
		return reportOf(err)
	}
	return health.Report{ReadOnly: len(rows.Rows) == 1 && string(rows.Rows[0][0]) == "1"}
}

// proberOf takes the connection of the last probe, or makes one.
func (p *Pool) proberOf(ctx context.Context) (c *Conn, kept bool, err error) {
	p.mu.Lock()
	c, p.prober = p.prober, nil
	target, generation := p.target, p.generation
	p.mu.Unlock()
	if c != nil && c.generation == generation {
		return c, true, nil
	}
	if c != nil {
		c.quit()
	}
	if c, err = p.dial(ctx, target, 0, p.limits.ConnectTimeout); err == nil {
		c.generation = generation
	}
	return c, false, err
}

func (p *Pool) keepProber(c *Conn) {
	c.stream.Release()
	p.mu.Lock()
	defer p.unlock()
	if p.closed || !c.Usable() {
		p.doomed = append(p.doomed, c)
		return
	}
	p.prober = c
}

// reportOf converts a probe's error into a report on the server.
func reportOf(err error) health.Report {
	r := health.Report{Finding: health.Refuses, Err: err}
	var timeout net.Error
	refused, answered := errors.AsType[*ServerError](err)
	_, loggingIn := errors.AsType[*LoginError](err)
	switch {
	case full(err):
		r.Finding = health.Full
	case answered && !loggingIn && refused.Code != mysql.ER_SERVER_SHUTDOWN:
		r.Finding = health.Answers
	case answered:
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		r.Finding = health.Silent
	}
	return r
}

// server is one server of a registry, as package health watches it. It is comparable: a different address is a different
// server.
type server struct {
	pool    *Pool
	twins   *Registry // holds a pool to the same server that freezes together with this one; may be nil
	addr    string
	replica bool
}

// Servers returns the servers of all shards, including replicas. twins has connections of its own to the same primaries; it
// may be nil.
func (r *Registry) Servers(twins *Registry) []health.Server {
	var list []health.Server
	for _, p := range *r.pools.Load() {
		list = append(list, server{pool: p, twins: twins, addr: p.addr()})
	}
	r.eachReplica(func(c *replica) { list = append(list, server{pool: c.pool, addr: c.pool.addr(), replica: true}) })
	return list
}

func (p *Pool) addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target.Addr
}

func (s server) Shard() router.ShardName                 { return s.pool.shard }
func (s server) Addr() string                            { return s.addr }
func (s server) Replica() bool                           { return s.replica }
func (s server) Probe(ctx context.Context) health.Report { return s.pool.Probe(ctx) }
func (s server) Received() uint64                        { return s.pool.Received() }

func (s server) Freeze(why error) { s.each(func(p *Pool) { p.Freeze(why) }) }
func (s server) Thaw()            { s.each((*Pool).Thaw) }

func (s server) Overdue(why error) { s.pool.Overdue(why) }

func (s server) each(do func(*Pool)) {
	do(s.pool)
	if s.twins == nil {
		return
	}
	if twin, ok := s.twins.Pool(s.pool.shard); ok {
		do(twin)
	}
}
