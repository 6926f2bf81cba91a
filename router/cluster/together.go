package cluster

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"locus/router"
)

// FailTogether reports the ha and auto_increment generators of which all members stop with one server or machine, one text each.
// With old it leaves out those that old declares in the same way; old may be nil.
func (c *Cluster) FailTogether(old *Cluster) []string {
	var list []string
	for _, name := range c.GeneratorNames() {
		g := c.Generators[name]
		members := len(g.Of)
		if g.Kind == AutoIncrementGenerator {
			members = len(g.Shards)
		}
		if members < 2 || g.Kind != HAGenerator && g.Kind != AutoIncrementGenerator || old != nil && !c.generatorChanged(old, name) {
			continue
		}
		if common := slices.Sorted(maps.Keys(c.needs(name))); len(common) > 0 {
			list = append(list, fmt.Sprintf("generator %s: all of its %d members stop with %s: give it one that needs another server", name, members, strings.Join(common, ", and with ")))
		}
	}
	return list
}

// stops is a set of servers and machines, each of which stops a generator when it is down.
type stops map[string]bool

// needs returns the servers and machines that a generator can't do without. It omits servers of which another copy exists. The
// generator must not take numbers from itself.
func (c *Cluster) needs(name string) stops {
	g := c.Generators[name]
	all := stops{}
	switch g.Kind {
	case RowGenerator:
		for _, shard := range g.Uses() { // a single shard: of its own row, or of another program's table
			all.add(c.needsShard(shard))
		}
	case AutoIncrementGenerator:
		for i, shard := range g.Shards {
			all.meet(i, c.needsShard(shard))
		}
	case HAGenerator:
		for i, of := range g.Of {
			all.meet(i, c.needs(of))
		}
	case QueueGenerator:
		all.add(c.needs(g.Of[0]))
	case FormatGenerator:
		if len(g.Of) > 0 {
			all.add(c.needs(g.Of[0]))
			break
		}
		all["etcd"] = true
	case SegmentGenerator, RedisGenerator: // without Redis, they continue from the store
		all.add(c.needsStore(g))
	case MemcachedGenerator:
		all.add(c.needsStore(g))
		all.add(needsServer(g))
	case BucketsGenerator: // a bucket that has begun needs no etcd
		all.add(needsServer(g))
	case SnowflakeGenerator: // its times are claimed for a day
	}
	return all
}

func (c *Cluster) needsStore(g Generator) stops {
	all := stops{"etcd": true}
	if g.Store != nil && g.Store.MySQL != nil {
		all.add(c.needsShard(g.Store.MySQL.Shard))
	}
	return all
}

// needsShard returns the shard, and the machine of its server if it has one alone.
func (c *Cluster) needsShard(name router.ShardName) stops {
	all := stops{"shard " + string(name): true}
	if s := c.Shards[name]; !s.HasServers() {
		all.addMachine(s.Address)
	}
	return all
}

// needsServer returns the server of Redis or memcached, if the generator has one alone.
func needsServer(g Generator) stops {
	all, address := stops{}, g.Server
	if len(g.Several) == 1 && g.Sentinel == nil {
		address = g.Several[0]
	}
	if address != "" && !g.Cluster {
		all["the server at "+address] = true
		all.addMachine(address)
	}
	return all
}

// addMachine adds the host of an address. Loopback addresses are left out, because they are used for trials.
func (n stops) addMachine(address string) {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && host != "" && host != "localhost" && !ip.IsLoopback() {
		n["machine "+host] = true
	}
}

func (n stops) add(other stops) { maps.Copy(n, other) }

// meet keeps only the elements that are also in other. For the first of several sets (i is 0) it keeps all of other.
func (n stops) meet(i int, other stops) {
	if i == 0 {
		n.add(other)
		return
	}
	maps.DeleteFunc(n, func(what string, _ bool) bool { return !other[what] })
}
