package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/config/strict"
	"locus/router"
)

// Failover is the way in which another server of a shard becomes the primary.
type Failover string

const (
	FailoverNone    Failover = "none" // the empty value means this, too: an operator requests a switchover
	FailoverFollow  Failover = "follow"
	FailoverPromote Failover = "promote"
)

// Admin is an account on a shard's servers that may change their roles. It differs from the account of statements, because a read-only server
// must refuse writes of that account.
type Admin struct {
	User   string `yaml:"user,omitempty"`
	Secret string `yaml:"secret,omitempty"` // the name under which a process looks up the password
}

// HasServers reports whether the shard is declared with servers that can change roles.
func (s Shard) HasServers() bool { return len(s.Servers) > 0 }

// Leased reports whether proxies send statements to the shard only while etcd confirms its primary: another server may become the primary
// without the proxies' consent.
func (s Shard) Leased() bool { return s.Failover == FailoverFollow || s.Failover == FailoverPromote }

// Limits of [Shard.FailoverAfter].
const (
	DefaultFailoverAfter = 3 * time.Second
	leastFailoverAfter   = time.Second // the proxies check once a second
	mostFailoverAfter    = time.Hour
)

// PatienceWithPrimary returns FailoverAfter, or its default.
func (s Shard) PatienceWithPrimary() time.Duration {
	if d, err := time.ParseDuration(s.FailoverAfter); err == nil { // Validate has checked it
		return d
	}
	return DefaultFailoverAfter
}

// Declared returns the shard as files and documents contain it. If it has several servers, its primary is in a document of its own.
func (s Shard) Declared() Shard {
	if s.HasServers() {
		s.Address, s.Replicas = "", nil
	}
	return s
}

func (c *Cluster) declaredShards() map[router.ShardName]Shard {
	shards := make(map[router.ShardName]Shard, len(c.Shards))
	for name, s := range c.Shards {
		if s.Unreadable == "" {
			shards[name] = s.Declared()
		}
	}
	return shards
}

// withPrimary returns the shard with this server as its primary, and the others as its replicas.
func (s Shard) withPrimary(primary string) Shard {
	s.Address, s.Replicas = primary, nil
	for _, address := range s.Servers {
		if address != primary {
			s.Replicas = append(s.Replicas, Replica{Address: address})
		}
	}
	return s
}

// setAddresses sets the addresses of shards with several servers. The primary is the one in Primaries, or the first server if there is none.
func (c *Cluster) setAddresses() {
	for name, s := range c.Shards {
		if !s.HasServers() || s.Address != "" || len(s.Replicas) > 0 { // checkServers refuses a shard that sets replicas
			continue
		}
		primary := s.Servers[0]
		if p, told := c.Primaries[name]; told {
			primary = p.Server
		}
		c.Shards[name] = s.withPrimary(primary)
	}
}

func (s Shard) checkServers(p *problems, document string) {
	if !s.HasServers() {
		checkAddress(p, document, s.Address)
		if s.Failover != "" || s.FailoverAfter != "" || s.StaleReads || s.Admin != (Admin{}) {
			p.add(document, "failover and admin are for shards with servers: write servers: [%s, …] in place of address", s.Address)
		}
		return
	}
	if !slices.Contains(s.Servers, s.Address) || len(s.Replicas) != len(s.Servers)-1 {
		p.add(document, "servers: list each server once, and leave address and replicas out: which is the primary is found in etcd")
		return
	}
	checkAddress(p, document, s.Address) // checkShards checks the addresses of the replicas
	switch s.Failover {
	case "", FailoverNone:
	case FailoverFollow, FailoverPromote:
		if s.Admin == (Admin{}) {
			p.add(document, "failover: %s checks the servers by an account of its own: declare admin: {user: …, secret: …}", s.Failover)
		}
	default:
		p.add(document, "failover %q: leave it out, or write none, follow or promote%s", s.Failover, strict.OneOf(s.Failover, FailoverNone, FailoverFollow, FailoverPromote))
	}
	s.checkFailoverAfter(p, document)
	if s.StaleReads && !s.Leased() {
		p.add(document, "stale_reads: is for failover: follow or promote: with failover: none, reads go on without etcd, and are not stale")
	}
	s.Admin.check(p, document)
}

func (s Shard) checkFailoverAfter(p *problems, document string) {
	if s.FailoverAfter == "" {
		return
	}
	if s.Failover != FailoverPromote {
		p.add(document, "failover_after: is for failover: promote")
	}
	if d, err := time.ParseDuration(s.FailoverAfter); err != nil || d < leastFailoverAfter || d > mostFailoverAfter {
		p.add(document, "failover_after %q: write a duration from %v to %v, such as %v", s.FailoverAfter, leastFailoverAfter, mostFailoverAfter, DefaultFailoverAfter)
	}
}

func (a Admin) check(p *problems, document string) {
	switch {
	case a == Admin{}:
	case a.User == "" || strings.TrimSpace(a.User) != a.User:
		p.add(document, "admin: user %q: name the account that changes the servers' roles", a.User)
	default:
		checkSecret(p, document, "admin: secret", a.Secret)
	}
}

// primaryProblem returns the problems of a shard's primary. Only etcd contains it.
func (c *Cluster) primaryProblem(name router.ShardName) (p problems) {
	document, primary := PrimaryKey(name), c.Primaries[name]
	shard, there := c.Shards[name]
	switch {
	case !there || !shard.HasServers():
		p.add(document, "no shard %s with servers is declared", name)
	case primary.Epoch < 1:
		p.add(document, "epoch %d: it begins with 1", primary.Epoch)
	case primary.Held && primary.Next == "":
		p.add(document, "paused without a next primary")
	case !slices.Contains([]Cause{Ordered, Found, Taken, Lost}, primary.Cause) || primary.Cause != Ordered && primary.Next == "":
		p.add(document, "cause %q with next %q", primary.Cause, primary.Next)
	}
	for _, server := range []string{primary.Server, primary.Next, primary.Former} {
		if there && server != "" && !slices.Contains(shard.Servers, server) {
			p.add(document, "%s is not one of the servers of shard %s", server, name)
		}
	}
	return p
}

// keepPrimaries sets the primaries of c to those of the old cluster. A file contains the list of servers, and never the primary. It returns an
// error if a server that is still needed is missing.
func (c *Cluster) keepPrimaries(old *Cluster) error {
	var errs []error
	primaries, shards := map[router.ShardName]Primary{}, maps.Clone(c.Shards)
	for name, s := range c.Shards {
		was, p := old.primaryOf(name)
		if s.Unreadable != "" {
			if p.Server != "" {
				primaries[name] = p
			}
			continue
		}
		if p.Next == "" && p.Former != "" && s.HasServers() && !slices.Contains(s.Servers, p.Former) {
			p = p.Settle(p.By) // the former primary is lost, and no process waits any more for it to replicate
		}
		if err := p.checkServersKept(name, was, s); err != nil {
			errs = append(errs, err)
			continue
		}
		if !s.HasServers() {
			continue
		}
		if p.Server == "" {
			p = Primary{Epoch: 1, Server: s.Servers[0]}
			if was != "" {
				p.Server = was
			}
		}
		primaries[name], shards[name] = p, s.withPrimary(p.Server)
	}
	c.Primaries, c.Shards = primaries, shards
	return errors.Join(errs...)
}

// primaryOf returns the address of a shard's primary, and its document in etcd.
func (c *Cluster) primaryOf(name router.ShardName) (address string, p Primary) {
	if c == nil {
		return "", p
	}
	return c.Shards[name].Address, c.Primaries[name]
}

// checkServersKept returns an error if the next declaration omits a server that is the primary or takes part in a switchover.
func (p Primary) checkServersKept(name router.ShardName, was string, next Shard) error {
	switch {
	case p.Server == "" && next.HasServers() && was != "" && !slices.Contains(next.Servers, was):
		return fmt.Errorf("shard %s: %s is the primary, and is not in servers: list it, and locus switchover %s --to another one later", name, was, name)
	case p.Server == "":
		return nil
	case !p.Settled() && !next.sameServers(p):
		return fmt.Errorf("shard %s: a switchover to %s has not ended: locus switchover %s --to %s ends it", name, p.Target(), name, p.Target())
	case !next.HasServers() && next.Address != p.Server, next.HasServers() && !slices.Contains(next.Servers, p.Server):
		return fmt.Errorf("shard %s: %s is its primary and can't be left out: locus switchover %s --to another one first", name, p.Server, name)
	}
	return nil
}

// sameServers reports whether all servers of an unfinished switchover are still servers of the shard.
func (s Shard) sameServers(p Primary) bool {
	for _, server := range []string{p.Server, p.Next, p.Former} {
		if server != "" && !slices.Contains(s.Servers, server) {
			return false
		}
	}
	return true
}
