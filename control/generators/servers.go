package generators

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strconv"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/buckets"
	"locus/idgen/memcached"
	"locus/idgen/pool"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/router/cluster"
)

// redisServers opens a generator's Redis servers. There is more than one if they are independent of each other.
func (m maker) redisServers(d cluster.Generator) ([]*redis.Server, error) {
	config, err := m.redisConfig(d)
	if err != nil {
		return nil, err
	}
	var configs []redis.Config
	switch {
	case d.Sentinel != nil:
		config.Sentinel = &redis.Sentinel{Master: d.Sentinel.Master, Servers: d.Sentinel.Servers, User: d.Sentinel.User}
		if d.Sentinel.Secret != "" {
			if config.Sentinel.Password, err = m.options.Secrets(d.Sentinel.Secret); err != nil {
				return nil, err
			}
		}
		configs = append(configs, config)
	case d.Cluster:
		config.Cluster = d.Addresses()
		configs = append(configs, config)
	default:
		for _, address := range d.Addresses() {
			config.Address = address
			configs = append(configs, config)
		}
	}
	var all []*redis.Server
	for _, c := range configs {
		server := redis.Open(c)
		m.into.atEnd(func() { _ = server.Close() })
		all = append(all, server)
	}
	return all, nil
}

// redisConfig returns the login to the servers. It fails now if the secret can't be read. Each later login
// reads the secret again.
func (m maker) redisConfig(d cluster.Generator) (redis.Config, error) {
	c := redis.Config{User: d.User}
	if d.Secret != "" {
		c.Password = func() (string, error) { return m.options.Secrets(d.Secret) }
		if _, err := c.Password(); err != nil {
			return redis.Config{}, err
		}
	}
	switch d.TLS {
	case "", cluster.TLSOff:
	case cluster.TLSOn:
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} // tls: on encrypts without verifying the certificate
	case cluster.TLSVerify:
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		if d.CA == "" {
			return c, nil
		}
		pem, err := m.options.Secrets(d.CA)
		if err != nil {
			return redis.Config{}, fmt.Errorf("authorities: %w", err)
		}
		c.TLS.RootCAs = x509.NewCertPool()
		if !c.TLS.RootCAs.AppendCertsFromPEM([]byte(pem)) {
			return redis.Config{}, fmt.Errorf("authorities: secret %q holds no PEM certificate", d.CA)
		}
	}
	return c, nil
}

// before returns the name of a server's circuit breakers in metrics.
func before(kind string, addresses []string, i int) string {
	if len(addresses) < 2 {
		return kind
	}
	return kind + " " + addresses[i]
}

// front returns the store of a generator's segments, with a Redis in front of it if one is declared.
func (m maker) front(ctx context.Context, name string) (granter, error) {
	if m.declared.Generators[name].Served() {
		p, err := m.pool(ctx, name)
		return granter{Store: p}, err
	}
	return m.granting(ctx, name)
}

// pooled is a pool of numbers in Redis.
type pooled interface {
	segment.Store
	Numbers(tag string) idgen.Numbers
	NumbersByKey(tag string) []idgen.Numbers
}

// pool opens one pool, or one for each of several servers or parts of a cluster.
func (m maker) pool(ctx context.Context, name string) (pooled, error) {
	d := m.declared.Generators[name]
	store, err := m.granting(ctx, name)
	if err != nil {
		return nil, err
	}
	servers, err := m.redisServers(d)
	if err != nil {
		return nil, err
	}
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	return inFront(m.into, d, servers, store, storeName(d), pool.Options{Prefix: "locus:" + mark + ":ids:"}), nil
}

// inFront opens a pool in front of a store, at each of the servers' places.
func inFront(into *generator, d cluster.Generator, servers []*redis.Server, store segment.Store, storeName string, o pool.Options) pooled {
	o.StoreTimeout = patience
	places := places(d, servers)
	if !d.Cluster {
		o.Keys = d.Keys
	}
	if len(places) == 1 {
		p := pool.New(servers[0], store, o)
		into.atEnd(p.Close)
		into.reports(func(st *Status) {
			redis, durable := p.Breakers()
			st.breaker("redis", redis, 1)
			st.breaker(storeName, durable, 1)
		})
		return p
	}
	p := pool.NewSpread(places, store, o)
	into.atEnd(p.Close)
	into.reports(func(st *Status) {
		redis, durable := p.Breakers()
		addresses := d.Addresses()
		if d.Cluster {
			addresses = nil // all parts of a cluster share one name
		}
		st.breakers("redis", addresses, redis)
		st.breaker(storeName, durable, 1)
	})
	return p
}

// places returns the places of pools. A Redis Cluster has one place for each key, each with its own slot. Any
// other server has one place for all keys.
func places(d cluster.Generator, servers []*redis.Server) []pool.Place {
	var all []pool.Place
	if d.Cluster {
		all = append(all, pool.Place{Redis: servers[0], Name: "part 0"})
		for i := 1; i < d.Keys; i++ {
			all = append(all, pool.Place{Redis: servers[0], Name: "part " + strconv.Itoa(i), Part: "/" + strconv.Itoa(i)})
		}
		return all
	}
	for i, server := range servers {
		where := "redis"
		if len(d.Addresses()) > i {
			where = d.Addresses()[i]
		}
		all = append(all, pool.Place{Redis: server, Name: where})
	}
	return all
}

func (m maker) buckets(ctx context.Context, d cluster.Generator, counter string) (idgen.Numbers, error) {
	servers, err := m.redisServers(d)
	if err != nil {
		return nil, err
	}
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	epochs := idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
		grant, err := m.store.Extend(ctx, "generator/"+counter+"/epochs", uint64(n))
		return grant.First, err
	}}
	var places []buckets.Redis
	for _, server := range servers {
		places = append(places, server)
	}
	b := buckets.New(places, epochs, buckets.Options{Prefix: "locus:" + mark + ":buckets:" + counter + ":", StoreTimeout: patience})
	m.into.reports(func(st *Status) {
		st.left("epoch", b.Left())
		for state, n := range b.States() {
			st.breaker("bucket", state, n)
		}
		if len(servers) > 1 {
			st.breakers("redis", d.Addresses(), b.Servers())
		}
	})
	return b, nil
}

func (m maker) memcached(ctx context.Context, name, tag string) (idgen.Numbers, error) {
	d := m.declared.Generators[name]
	store, err := m.granting(ctx, name)
	if err != nil {
		return nil, err
	}
	mark, err := m.mark(ctx)
	if err != nil {
		return nil, err
	}
	cached := memcached.New(d.Addresses(), store, tag, memcached.Options{Prefix: "locus:" + mark + ":"})
	m.into.atEnd(func() { _ = cached.Close() })
	m.into.reports(func(st *Status) { st.breakers("memcached", d.Addresses(), cached.Breakers()) })
	return cached, nil
}

// breakers adds the states of the circuit breakers of servers, one for each.
func (s *Status) breakers(kind string, addresses []string, states []breaker.State) {
	for i, state := range states {
		s.breaker(before(kind, addresses, i), state, 1)
	}
}
