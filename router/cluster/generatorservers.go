package cluster

import (
	"net"
	"slices"
	"strings"
	"unicode"

	"locus/config/strict"
	"locus/router/endpoint"
)

// The declarations of servers other than the shards.
type (
	Servers  = endpoint.Servers
	Sentinel = endpoint.Sentinel
)

// RedisOf returns a generator of segments with that Redis in front of the store, and no other settings.
func RedisOf(r *endpoint.Redis) Generator {
	return Generator{Kind: SegmentGenerator, Server: r.Server, Secret: r.Secret, Servers: r.Servers}
}

// Addresses returns the declared addresses, of one server or of several.
func (g Generator) Addresses() []string {
	if g.Server != "" {
		return []string{g.Server}
	}
	return g.Several
}

// Served reports whether any server is declared.
func (g Generator) Served() bool {
	return g.Server != "" || len(g.Several) > 0 || g.Sentinel != nil || g.Cluster
}

// mostServers is more than the number of servers over which numbers are spread in practice.
const mostServers = 64

// checkServers reports problems of the servers of a generator.
func (f generatorFields) checkServers(p *problems, document string, g Generator) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			p.add(document, format, args...)
		}
	}
	switch {
	case f.server == absent:
		refuse(g.Server != "", "server: kind %s has none", g.Kind)
		refuse(len(g.Several) > 0, "servers: kind %s has none", g.Kind)
		refuse(g.Cluster || g.Sentinel != nil, "cluster and sentinel: kind %s has no Redis", g.Kind)
	case f.server == needed && !g.Served():
		refuse(f.redis(g), "server is missing: give its host:port, or `servers:` of several, or a `sentinel:`")
		refuse(!f.redis(g), "server is missing: give its host:port, or `servers:` of several")
	default:
		f.checkShape(refuse, g)
	}
	refuse(!g.Served() && (g.Secret != "" || g.User != "" || g.TLS != "" || g.CA != ""), "secret is for a server, and so are user, tls and ca")
	if g.Served() {
		g.checkLogin(p, document)
	}
}

// redis reports whether a kind counts in Redis.
func (f generatorFields) redis(g Generator) bool {
	return f.server != absent && g.Kind != MemcachedGenerator
}

// checkShape reports server settings that contradict each other.
func (f generatorFields) checkShape(refuse func(bool, string, ...any), g Generator) {
	refuse(!f.redis(g) && (g.Cluster || g.Sentinel != nil), "cluster and sentinel are of Redis: kind %s has `servers:`", g.Kind)
	refuse(!f.redis(g) && (g.User != "" || g.TLS != "" || g.CA != ""), "user, tls and ca are of Redis: kind %s has none", g.Kind)
	refuse(g.Server != "" && len(g.Several) > 0, "server and servers: give one of the two")
	refuse(g.Sentinel != nil && (g.Server != "" || len(g.Several) > 0 || g.Cluster), "sentinel: it names the server: leave `server:`, `servers:` and `cluster:` out")
	refuse(g.Cluster && g.Sentinel == nil && len(g.Addresses()) == 0, "cluster: give some of its nodes as `servers:`")
	refuse(f.lock && len(g.Several) > 1 && !g.Cluster, "servers: a lock is in one place: give `server:`, a cluster or a `sentinel:`")
	checkAddresses(refuse, "server", g.Addresses())
	if g.Sentinel != nil {
		refuse(g.Sentinel.Master == "" || strings.ContainsFunc(g.Sentinel.Master, unicode.IsSpace), "sentinel: master %q: give the name that the sentinels have for it", g.Sentinel.Master)
		refuse(len(g.Sentinel.Servers) == 0, "sentinel: servers are missing: give the host:port of each sentinel")
		checkAddresses(refuse, "sentinel", g.Sentinel.Servers)
	}
}

func checkAddresses(refuse func(bool, string, ...any), what string, addresses []string) {
	for i, address := range addresses {
		_, _, err := net.SplitHostPort(address)
		refuse(err != nil, "%s %q: write host:port", what, address)
		refuse(slices.Contains(addresses[:i], address), "%s %s is named twice", what, address)
	}
	refuse(len(addresses) > mostServers, "%d addresses: at most %d", len(addresses), mostServers)
}

// checkLogin reports problems of accounts and encryption.
func (g Generator) checkLogin(p *problems, document string) {
	secrets := []struct{ field, name string }{{"secret", g.Secret}, {"ca", g.CA}}
	users := []string{g.User}
	if g.Sentinel != nil {
		secrets = append(secrets, struct{ field, name string }{"sentinel: secret", g.Sentinel.Secret})
		users = append(users, g.Sentinel.User)
	}
	for _, secret := range secrets {
		if secret.name != "" {
			checkSecret(p, document, secret.field, secret.name)
		}
	}
	for _, user := range users {
		if strings.ContainsFunc(user, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }) {
			p.add(document, "user %q: spaces and control characters are no part of a name", user)
		}
	}
	if g.User != "" && g.Secret == "" {
		p.add(document, "user %s: give the name of its password as `secret:`", g.User)
	}
	if g.Sentinel != nil && g.Sentinel.User != "" && g.Sentinel.Secret == "" {
		p.add(document, "sentinel: user %s: give the name of its password as `secret:`", g.Sentinel.User)
	}
	switch g.TLS {
	case "", TLSOff, TLSOn:
		if g.CA != "" {
			p.add(document, "ca is for tls: verify, this is tls: %s", orOff(g.TLS))
		}
	case TLSVerify:
	default:
		p.add(document, "tls %q: use off, on or verify%s", g.TLS, strict.OneOf(g.TLS, TLSOff, TLSOn, TLSVerify))
	}
}

func orOff(t TLS) TLS {
	if t == "" {
		return TLSOff
	}
	return t
}
