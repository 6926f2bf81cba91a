package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/control/declared"
	"locus/control/switchover"
	"locus/migrate/link"
	"locus/router"
)

// Finding is one difference between a cluster and a cut.
type Finding struct {
	Where  string `json:"where"`
	What   string `json:"what"`
	Remedy string `json:"remedy"`
}

// Compare returns the differences between the declared shards and a cut, each with a remedy; none if the shards
// are at the cut.
func (t Taking) Compare(ctx context.Context, c Cut) (found []Finding, err error) {
	find := func(where, remedy, format string, args ...any) {
		found = append(found, Finding{where, fmt.Sprintf(format, args...), remedy})
	}
	now, err := declared.Current(ctx, t.KV)
	if err != nil {
		return nil, err
	}
	if had := strings.Join(c.Routes, "\n"); had != strings.Join(routes(now.Routes), "\n") || len(now.Routes.Moves()) > 0 {
		find("route map", fmt.Sprintf("locus routes rollback %d, or locus apply with the routes of that moment: %s", c.MapVersion, strings.Join(c.Routes, ", ")),
			"genes are on other shards than at the moment of the backup: the map had version %d then, and has version %d now", c.MapVersion, now.Routes.Version())
	}
	for _, name := range slices.SortedFunc(maps.Keys(c.Shards), router.ShardName.Compare) {
		at := c.Shards[name]
		p, err := t.at(ctx, now.Shards[name].Address, name, func() (link.Server, error) { return t.server(name, now.Shards[name]) })
		if err != nil {
			find("shard "+string(name), "declare the restored server as the shard (locus apply), start it, and check its account", "%v", err)
			continue
		}
		found = append(found, at.compare(name, p)...)
	}
	for _, name := range now.ShardNames() {
		if _, there := c.Shards[name]; !there {
			find("shard "+string(name), "leave it out of cluster.yaml (locus apply), unless it has no genes and no rows", "the backup does not contain it")
		}
	}
	counters, err := Counters(ctx, t.KV)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(c.Counters)) {
		if counters[key] < c.Counters[key] {
			find("counter "+key, fmt.Sprintf("before any proxy runs, write a bound of %d at least to the key %s, and above every number that was issued since the backup", c.Counters[key], key),
				"etcd grants numbers above %d, and rows may have numbers up to %d: these would be issued again", counters[key], c.Counters[key])
		}
	}
	return found, nil
}

func (t Taking) at(ctx context.Context, addr string, name router.ShardName, server func() (link.Server, error)) (Point, error) {
	if addr == "" {
		return Point{}, fmt.Errorf("shard %s is not declared", name)
	}
	s, err := server()
	if err != nil {
		return Point{}, err
	}
	conn, err := link.Dial(ctx, s)
	if err != nil {
		return Point{}, err
	}
	defer conn.Close()
	p, err := where(ctx, conn)
	p.Server = addr
	return p, err
}

// compare returns the differences between a restored server and the cut: missing transactions, and additional ones.
func (at Point) compare(name router.ShardName, p Point) (found []Finding) {
	where := "shard " + string(name) + " at " + p.Server
	if p.MariaDB != at.MariaDB {
		return []Finding{{where, "it is a server of another kind than at the backup", "restore it on a server of the same kind"}}
	}
	lacks, err := switchover.Missing(p.MariaDB, at.Has, p.Has)
	if err == nil && lacks != "" {
		until := fmt.Sprintf("SQL_AFTER_GTIDS = '%s'", at.Has)
		if p.MariaDB {
			until = fmt.Sprintf("master_gtid_pos = '%s'", last(at.Has))
		}
		found = append(found, Finding{where, "it lacks transactions of the backup: " + lacks, fmt.Sprintf("let it follow a server with the logs of %s: START REPLICA UNTIL %s", at.Server, until)})
	}
	more, other := switchover.Missing(p.MariaDB, p.Has, at.Has)
	if other == nil && more != "" {
		found = append(found, Finding{where, "it has transactions that are later than the backup: " + more, "restore it from an earlier copy, and roll it forward only to the moment of the backup"})
	}
	for _, err := range []error{err, other} {
		if err != nil {
			found = append(found, Finding{where, err.Error(), "see the reason"})
		}
	}
	if len(found) == 0 && p.Prepared != at.Prepared {
		found = append(found, Finding{where, fmt.Sprintf("%d transactions are prepared there, and %d were at the backup", p.Prepared, at.Prepared), "restore it again, from a physical copy: a dump contains no transactions that were prepared when it was made"})
	}
	return found
}

// last returns the greatest GTID of each domain of a MariaDB state. MariaDB's programs use this as a position.
func last(state string) string {
	best := map[string]string{}
	numbers := map[string]uint64{}
	for _, gtid := range strings.Split(state, ",") {
		var domain, server, n uint64
		if _, err := fmt.Sscanf(strings.TrimSpace(gtid), "%d-%d-%d", &domain, &server, &n); err != nil {
			continue
		}
		if key := fmt.Sprint(domain); n >= numbers[key] {
			numbers[key], best[key] = n, strings.TrimSpace(gtid)
		}
	}
	return strings.Join(slices.Sorted(maps.Values(best)), ",")
}
