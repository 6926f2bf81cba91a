package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"locus/config/strict"
)

// Validate reports all invalid values. It reads no file; see [Config.CheckFiles].
func (c *Config) Validate() error {
	var p problems
	if !clusterName.MatchString(c.Cluster) {
		p.add("cluster", "%q: use 1 to 63 lower-case letters, digits, '-' and '_', a letter first", c.Cluster)
	}
	if c.DataDir == "" {
		p.add("data_dir", "name a directory")
	}
	c.validateTasks(&p)
	c.Etcd.validate(&p)
	c.Proxy.validate(&p)
	c.HTTP.validate(&p)
	c.Backends.validate(&p)
	c.Snowflake.validate(&p)
	c.validateIDs(&p)
	c.Log.validate(&p)
	c.Tracing.validate(&p)
	return errors.Join(p...)
}

var clusterName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

func (e *Etcd) validate(p *problems) {
	if len(e.Endpoints) == 0 {
		p.add("etcd.endpoints", "name at least one, such as 127.0.0.1:2379")
	}
	secure, plain := 0, 0
	for i, endpoint := range e.Endpoints {
		field := fmt.Sprintf("etcd.endpoints[%d]", i)
		scheme, hostPort, err := splitEndpoint(endpoint)
		if err != nil {
			p.add(field, "%w", err)
			continue
		}
		p.address(field, hostPort)
		switch scheme {
		case "https":
			secure++
		case "http":
			plain++
		}
	}
	if (e.TLS != EtcdTLS{}) && plain != 0 {
		p.add("etcd.endpoints", "http:// isn't TLS, and etcd.tls is set: write https:// or no scheme")
	}
	if secure != 0 && secure != len(e.Endpoints) {
		p.add("etcd.endpoints", "some are https:// and some aren't: TLS is for all or none")
	}
	if (e.Username == "") != (e.PasswordFile == "") {
		p.add("etcd.username", "username and password_file go together")
	}
	if (e.TLS.Cert == "") != (e.TLS.Key == "") {
		p.add("etcd.tls", "cert and key go together")
	}
	p.positive("etcd.dial_timeout", e.DialTimeout)
}

func splitEndpoint(endpoint string) (scheme, hostPort string, err error) {
	if !strings.Contains(endpoint, "://") {
		return "", endpoint, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || (u.Path != "" && u.Path != "/") {
		return "", "", fmt.Errorf("%q: write host:port, http://host:port or https://host:port", endpoint)
	}
	return u.Scheme, u.Host, nil
}

func (x *Proxy) validate(p *problems) {
	p.address("proxy.listen", x.Listen)
	if x.Advertise != "" {
		p.address("proxy.advertise", x.Advertise)
	}
	if (x.TLS.Cert == "") != (x.TLS.Key == "") {
		p.add("proxy.tls", "cert and key go together")
	}
	p.atLeast("proxy.max_connections", x.MaxConnections, 1)
	p.size("proxy.max_packet_before_login", x.MaxPacketBeforeLogin, 1<<10, 16<<20)
	p.size("proxy.max_statement", x.MaxStatement, 1<<10, 1<<30)
	p.size("proxy.session_memory", x.SessionMemory, 1<<20, 1<<40)
	p.positive("proxy.connect_timeout", x.ConnectTimeout)
	p.positive("proxy.idle_timeout", x.IdleTimeout)
	p.positive("proxy.net_write_timeout", x.NetWriteTimeout)
	p.positive("proxy.net_read_timeout", x.NetReadTimeout)
	p.positive("proxy.drain_timeout", x.DrainTimeout)
	p.notNegative("proxy.statement_timeout", x.StatementTimeout)
	p.notNegative("proxy.slow_statement", x.SlowStatement)
	p.notNegative("proxy.drain_delay", x.DrainDelay)
	if x.Transactions != Single && x.Transactions != Multi && x.Transactions != XA {
		p.add("proxy.transactions", "%q: use xa, multi or single%s", x.Transactions, strict.OneOf(x.Transactions, XA, Multi, Single))
	}
}

func (h *HTTP) validate(p *problems) {
	if h.Listen == "" {
		return
	}
	p.address("http.listen", h.Listen)
	if h.User == "" {
		p.add("http.user", "name who may log in")
	}
	if h.PasswordFile == "" && len(h.Accounts) == 0 && !loopback(h.Listen) {
		p.add("http.password_file", "needed because http.listen %s isn't a loopback address", h.Listen)
	}
	if (h.TLS.Cert == "") != (h.TLS.Key == "") {
		p.add("http.tls", "cert and key go together")
	}
	known := map[string]bool{h.User: h.PasswordFile != ""}
	for i, a := range h.Accounts {
		field := fmt.Sprintf("http.accounts[%d]", i)
		if a.User == "" || known[a.User] {
			p.add(field+".user", "%q: each account has a name of its own", a.User)
		}
		known[a.User] = true
		if a.Role != Viewer && a.Role != Admin {
			p.add(field+".role", "%q: use viewer or admin%s", a.Role, strict.OneOf(a.Role, Viewer, Admin))
		}
		if !secretName.MatchString(a.Secret) {
			p.add(field+".secret", "%q: name a secret, such as http/ann", a.Secret)
		}
	}
}

func (b *Backends) validate(p *problems) {
	p.atLeast("backends.max_connections_per_shard", b.MaxConnectionsPerShard, 1)
	p.positive("backends.wait_timeout", b.WaitTimeout)
	p.notNegative("backends.restart_wait", b.RestartWait)
	p.positive("backends.stall", b.Stall)
	p.positive("backends.connect_timeout", b.ConnectTimeout)
	p.positive("backends.idle_timeout", b.IdleTimeout)
}

func (s *Snowflake) validate(p *problems) {
	if _, _, err := s.Range(); err != nil {
		p.add("snowflake.workers", "%w", err)
	}
	if s.Reuse != ReuseByDataDir && s.Reuse != ReuseByAddress {
		p.add("snowflake.reuse", "%q: use data_dir or address%s", s.Reuse, strict.OneOf(s.Reuse, ReuseByDataDir, ReuseByAddress))
	}
	if d := s.Claim.Std(); d != 0 && (d < 10*time.Second || d > 7*24*time.Hour) {
		p.add("snowflake.claim", "%s: use 10s to 168h", d)
	}
}

func (c *Config) validateIDs(p *problems) {
	if _, err := c.IDs.Networks(); err != nil {
		p.add("ids.allow", "%w", err)
	}
	if c.IDs.Listen == "" {
		return
	}
	p.address("ids.listen", c.IDs.Listen)
	if (c.IDs.TLS.Cert == "") != (c.IDs.TLS.Key == "") {
		p.add("ids.tls", "cert and key go together")
	}
	if !c.Does(IDsTask) {
		p.add("ids.listen", "this process does not have the role ids")
	}
	if len(c.IDs.Allow) == 0 && !loopback(c.IDs.Listen) {
		p.add("ids.allow", "needed because ids.listen %s isn't a loopback address, and there is no login: name the networks of its clients, such as 10.1.0.0/16", c.IDs.Listen)
	}
}

func (l *Log) validate(p *problems) {
	if l.Format != Text && l.Format != JSON {
		p.add("log.format", "%q: use text or json%s", l.Format, strict.OneOf(l.Format, Text, JSON))
	}
	if _, ok := slogLevels[l.Level]; !ok {
		p.add("log.level", "%q: use debug, info, warn or error%s", l.Level, strict.OneOf(l.Level, slices.Collect(maps.Keys(slogLevels))...))
	}
}

func (t *Tracing) validate(p *problems) {
	if t.Sample < 0 || t.Sample > 1 || t.Sample != t.Sample {
		p.add("tracing.sample", "%v: use 0 to 1", t.Sample)
	}
	p.positive("tracing.timeout", t.Timeout)
	if t.Endpoint == "" {
		return
	}
	// The error doesn't quote the text, because an invalid endpoint may be a secret.
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		p.add("tracing.endpoint", "write http://host:port/path or https://host:port/path; secrets go into headers_file")
	}
}

func loopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || (ip != nil && ip.IsLoopback()))
}
