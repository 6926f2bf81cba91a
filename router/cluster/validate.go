package cluster

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"locus/config/strict"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
)

// Validate returns all problems of the declaration that can be found without other data, or nil.
func (c *Cluster) Validate() error {
	problems := c.problems()
	if c.Routes == nil {
		problems = append(problems, errors.New("routes: missing"))
	}
	return errors.Join(problems...)
}

// problems returns the problems of the declaration. Missing routes are none: the caller may allow them.
func (c *Cluster) problems() []error {
	var p problems
	c.Settings.check(&p)
	c.checkShards(&p)
	for _, name := range c.TableNames() {
		c.checkTable(&p, name, c.Tables[name])
	}
	for _, name := range c.UserNames() {
		c.Users[name].check(&p, name)
	}
	for _, name := range c.GeneratorNames() {
		c.checkGenerator(&p, name, c.Generators[name])
	}
	c.checkRoutes(&p)
	return p
}

type problems []error

func (p *problems) add(document, format string, args ...any) {
	*p = append(*p, fmt.Errorf("%s: %w", document, fmt.Errorf(format, args...)))
}

func (s Settings) check(p *problems) {
	if !s.GeneBits.Valid() {
		p.add("settings", "gene_bits %d: use 14, 15, 16 or 23", s.GeneBits)
	}
	if s.Hash != Hash {
		p.add("settings", "hash %q: this build computes %s and no other", s.Hash, Hash)
	}
	if s.CounterGroups < 1 || s.CounterGroups > 1<<16 || s.GeneBits.Valid() && s.CounterGroups > int(s.GeneBits.Last())+1 {
		p.add("settings", "counter_groups %d: use 1 to 65536, and no more than there are genes", s.CounterGroups)
	}
	if _, err := days(s.RotateKeysEvery); err != nil {
		p.add("settings", "rotate_keys_every %q: %w", s.RotateKeysEvery, err)
	}
}

func (c *Cluster) checkShards(p *problems) {
	if len(c.Shards) == 0 {
		p.add("shards", "none is declared")
		return
	}
	at := map[string]router.ShardName{}
	for _, name := range c.ShardNames() {
		s := c.Shards[name]
		if s.Unreadable != "" {
			continue
		}
		s.check(p, name)
		if other, taken := at[s.Address]; taken {
			p.add("shard "+string(name), "address %s is shard %s's: two shards can't be one server", s.Address, other)
		} else if s.Address != "" {
			at[s.Address] = name
		}
		for _, r := range s.Replicas {
			checkAddress(p, "shard "+string(name), r.Address)
			if other, taken := at[r.Address]; taken {
				p.add("shard "+string(name), "replica %s is a server of shard %s already", r.Address, other)
			} else {
				at[r.Address] = name
			}
		}
	}
	if _, known := c.Shards[c.Settings.DefaultShard]; !known {
		p.add("settings", "default_shard %q: no such shard is declared%s", c.Settings.DefaultShard, strict.OneOf(c.Settings.DefaultShard, c.ShardNames()...))
	}
}

var (
	secretName     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)
	userName       = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,79}$`)
	storedPassword = regexp.MustCompile(`^(\*[0-9A-Fa-f]{40}|\$A\$[0-9A-Fa-f]{3}\$(?s:.{63}))$`)
)

func checkAddress(p *problems, document, address string) {
	host, port, err := net.SplitHostPort(address)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || host == "" || n < 1 || n > 65535 {
		p.add(document, "address %q: write host:port", address)
	}
}

func (s Shard) check(p *problems, name router.ShardName) {
	document := "shard " + string(name)
	if err := name.Validate(); err != nil {
		p.add("shards", "%w", err)
	}
	s.checkServers(p, document)
	if s.MaxConnections < 0 {
		p.add(document, "max_connections %d: use 1 or more, or leave it out", s.MaxConnections)
	}
	if s.MaxReplicaLag != "" {
		if d, err := time.ParseDuration(s.MaxReplicaLag); err != nil || d < time.Second {
			p.add(document, "max_replica_lag %q: write whole seconds, such as 2s; servers report no fractions", s.MaxReplicaLag)
		}
	}
	switch {
	case s.User == "":
		p.add(document, "user is missing: name the account that proxies log in as")
	case strings.ContainsFunc(s.User, unicode.IsControl) || strings.TrimSpace(s.User) != s.User:
		p.add(document, "user %q: spaces around it and control characters are no part of a name", s.User)
	}
	checkSecret(p, document, "secret", s.Secret)
	switch s.TLS {
	case TLSVerify:
	case TLSOff, TLSOn:
		if s.CA != "" {
			p.add(document, "ca is for tls: verify, this is tls: %s", s.TLS)
		}
	default:
		p.add(document, "tls %q: use off, on or verify%s", s.TLS, strict.OneOf(s.TLS, TLSOff, TLSOn, TLSVerify))
	}
	if s.CA != "" {
		checkSecret(p, document, "ca", s.CA)
	}
}

// checkSecret refuses a text that can't be a secret's name. The problem doesn't contain the text, since it may be the secret itself.
func checkSecret(p *problems, document, field, name string) {
	switch {
	case name == "":
		p.add(document, "%s is missing: give the name under which each process finds it, such as %s", field, "shards/s0")
	case !secretName.MatchString(name):
		p.add(document, "%s holds no name: a name is letters, digits, '_', '-' and '.', in parts divided by '/'; the secret itself stays out of this file", field)
	}
}

func (c *Cluster) checkTable(p *problems, name catalog.TableName, d catalog.Declaration) {
	document := "table " + name.String()
	if err := name.Validate(); err != nil {
		p.add("tables", "%w", err)
	}
	if err := d.Validate(); err != nil {
		for _, e := range unjoin(err) {
			p.add(document, "%w", e)
		}
		return
	}
	if _, known := c.Shards[d.Shard]; d.Kind == catalog.Single && !known {
		p.add(document, "shard %q: no such shard is declared%s", d.Shard, strict.OneOf(d.Shard, c.ShardNames()...))
	}
	for _, column := range slices.Sorted(maps.Keys(d.Stamped)) {
		if _, known := c.Generators[d.Stamped[column]]; !known {
			p.add(document, "column %s: stamped by generator %q, and no such generator is declared%s", column, d.Stamped[column],
				strict.DidYouMean(d.Stamped[column], slices.Sorted(maps.Keys(c.Generators))))
		} else if c.Generators[d.Stamped[column]].EveryTag() {
			p.add(document, "column %s: stamped by generator %s, whose numbers are distinct for each tag only: declare a generator with the tag", column, d.Stamped[column])
		} else if g := c.Generators[d.Stamped[column]]; g.Per != "" {
			p.add(document, "column %s: stamped by generator %s, whose numbers are distinct for each value of %s only: stamp the texts of a template with per=%s",
				column, d.Stamped[column], g.PerContext(), g.Per)
		}
	}
	c.checkCounters(p, name, d)
	for _, id := range []*catalog.IDColumn{d.ID, d.Parent} {
		if id == nil {
			continue
		}
		if l, err := orderid.ByName(id.Layout); err == nil && l.GeneWidth() < c.Settings.GeneBits {
			p.add(document, "column %s: layout %s has %d bits of gene and the cluster routes by %d: use another layout",
				id.Column, id.Layout, l.GeneBits(), c.Settings.GeneBits)
		}
	}
}

// longestCounter is the greatest length of a counter's name behind its prefix, such as g1000000/65535.
const longestCounter = 14

// checkCounters reports problems of the shard that grants the numbers of a table's IDs, and of the Redis in front of it.
func (c *Cluster) checkCounters(p *problems, name catalog.TableName, d catalog.Declaration) {
	if d.ID == nil {
		return
	}
	document := "table " + name.String()
	if redis := d.ID.Segments.Redis; redis != nil {
		generatorFields{server: needed}.checkServers(p, document+": segments: redis", RedisOf(redis))
	}
	if d.ID.Segments.Store == nil {
		return
	}
	shard := d.ID.Segments.Shard()
	if _, known := c.Shards[shard]; !known {
		p.add(document, "segments: store on shard %q: no such shard is declared: name one of %v, or leave `store:` out for etcd", shard, c.ShardNames())
	}
	if longest := len(CounterPrefix(name, d.ID.Wide())) + longestCounter; longest > longestTag {
		p.add(document, "segments: rows of its counters have tags of up to %d bytes, and biz_tag has room for %d: leave `store:` out for etcd", longest, longestTag)
	}
}

// unjoin returns the errors that were joined, so that every problem names its document.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func (u User) check(p *problems, name string) {
	document := "user " + name
	if !userName.MatchString(name) {
		p.add("users", "name %q: use 1 to 80 letters, digits, '_', '.', '@' and '-'", name)
	}
	switch {
	case u.Secret == "" && u.AuthenticationString == "":
		p.add(document, "no secret: give `secret:`, the name under which proxies find the password, or `authentication_string:`")
	case u.Secret != "" && u.AuthenticationString != "":
		p.add(document, "give secret or authentication_string, one of the two")
	case u.Secret != "":
		checkSecret(p, document, "secret", u.Secret)
	case !storedPassword.MatchString(u.AuthenticationString):
		p.add(document, "authentication_string is neither '*' and 40 hex digits nor '$A$005$' and 63 characters")
	}
	u.checkRights(p, document)
}

func (u User) checkRights(p *problems, document string) {
	switch u.TLS {
	case "", TLSOptional, TLSRequired:
	default:
		p.add(document, "tls %q: use optional or required%s", u.TLS, strict.OneOf(u.TLS, TLSOptional, TLSRequired))
	}
	for _, guard := range []struct {
		field string
		value Guard
	}{{"scatter", u.Scatter}, {"scatter_writes", u.ScatterWrites}, {"unfiltered", u.Unfiltered}, {"large_offset", u.LargeOffset}, {"large_gather", u.LargeGather}} {
		switch guard.value {
		case "", GuardAllow, GuardWarn, GuardRefuse:
		default:
			p.add(document, "%s %q: use allow, warn or refuse%s", guard.field, guard.value, strict.OneOf(guard.value, GuardAllow, GuardWarn, GuardRefuse))
		}
	}
	if u.GatherRows < 0 || u.GatherMiB < 0 || u.GatherMiB > 1<<20 {
		p.add(document, "gather_rows and gather_mib: use a number from 1 up, of MiB 1048576 at most; left out, the default limits apply")
	}
	switch u.Read {
	case "", ReadPrimary, ReadReplica, ReadSession:
	default:
		p.add(document, "read %q: use primary, replica or session%s", u.Read, strict.OneOf(u.Read, ReadPrimary, ReadReplica, ReadSession))
	}
	for _, name := range u.Databases {
		if name == "" || strings.ContainsAny(name, "*%`") {
			p.add(document, "databases: %q: write a database's name as it is; there are no patterns", name)
		}
	}
	for _, name := range u.Tables {
		if _, err := catalog.ParseTableName(name); err != nil {
			p.add(document, "tables: %w", err)
		}
	}
	if u.MaxConnections < 0 {
		p.add(document, "max_connections %d: use 1 or more, or leave it out", u.MaxConnections)
	}
	for field, text := range map[string]string{"statement_timeout": u.StatementTimeout, "slow_statement": u.SlowStatement} {
		never := field == "statement_timeout" && text == "0s"
		if d, err := time.ParseDuration(text); text != "" && !never && (err != nil || d < time.Millisecond) {
			p.add(document, "%s %q: write a number and a unit, such as 500ms or 30s", field, text)
		}
	}
}

func (c *Cluster) checkRoutes(p *problems) {
	if c.Routes == nil {
		return
	}
	if c.Routes.Width() != c.Settings.GeneBits {
		p.add("routes", "genes of %d bits, and settings say gene_bits %d", c.Routes.Width(), c.Settings.GeneBits)
	}
	for _, name := range c.Routes.Shards() {
		if _, known := c.Shards[name]; !known {
			p.add("routes", "unknown shard %s owns %s: declare it first or give its genes to another", name, c.Routes.GenesOf(name))
		}
	}
}
