package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/migrate/link"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/cluster"
)

// Taking takes cuts of one cluster.
type Taking struct {
	KV   *etcd.KV
	Name string // of the cluster
	// Secrets returns passwords by name.
	Secrets func(name string) (string, error)
	Now     func() time.Time
}

const (
	// locking bounds one attempt to block the writes of all shards, and thus how long writes wait for it.
	locking = time.Second
	// tries is the number of attempts. A long-running statement can prevent a server from being locked.
	tries = 30
	// rest is the pause between two attempts, during which writes continue.
	rest = time.Second
	// forgotten is the time in seconds after which a server ends the lock of a process that is suspended.
	forgotten = 5
)

// held is a shard whose writes are blocked by conn.
type held struct {
	name router.ShardName
	conn *link.Conn
}

// Take blocks the writes of all shards for a moment, and records the position of each.
func (t Taking) Take(ctx context.Context) (Cut, error) {
	now, err := declared.Current(ctx, t.KV)
	if err != nil {
		return Cut{}, err
	}
	if err := still(now); err != nil {
		return Cut{}, err
	}
	all, err := t.open(ctx, now)
	defer func() {
		for _, one := range all {
			_ = one.conn.Close()
		}
	}()
	if err != nil {
		return Cut{}, err
	}
	for _, one := range all {
		for _, sql := range []string{fmt.Sprintf("SET SESSION lock_wait_timeout = %d", int(locking.Seconds())), fmt.Sprintf("SET SESSION wait_timeout = %d", forgotten)} {
			if _, err := one.conn.Exec(ctx, sql); err != nil {
				return Cut{}, fmt.Errorf("shard %s: %w", one.name, err)
			}
		}
	}
	for try := 1; ; try++ {
		c, err := t.try(ctx, all)
		if !errors.Is(err, errBusy) || try == tries {
			return c, err
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return Cut{}, errors.Join(ctx.Err(), err)
		}
	}
}

// open connects to all shards.
func (t Taking) open(ctx context.Context, now *cluster.Cluster) (all []held, err error) {
	for _, name := range now.ShardNames() {
		server, err := t.server(name, now.Shards[name])
		if err != nil {
			return all, fmt.Errorf("shard %s: %w", name, err)
		}
		conn, err := link.Dial(ctx, server)
		if err != nil {
			return all, fmt.Errorf("shard %s: %w", name, err)
		}
		all = append(all, held{name, conn})
	}
	return all, nil
}

// server returns the address and the credentials of a shard's primary. It uses the admin account if there is
// one.
func (t Taking) server(name router.ShardName, shard cluster.Shard) (link.Server, error) {
	if shard.Admin.User != "" {
		shard.User, shard.Secret = shard.Admin.User, shard.Admin.Secret
	}
	target, err := schema.Target(name, shard, t.Secrets)
	if err != nil {
		return link.Server{}, err
	}
	password, err := target.Password()
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, err
}

// still returns an error if a job moves genes.
func still(now *cluster.Cluster) error {
	for _, move := range now.Routes.Moves() {
		return fmt.Errorf("job %s moves rows, which are on two shards: finish or abort it first (locus jobs)", move.ID())
	}
	return nil
}

// routes returns the lines of a route map.
func routes(m *router.Map) (lines []string) {
	for _, e := range m.Entries() {
		lines = append(lines, fmt.Sprintf("%#04x %s", uint16(e.Bound), e.Shard))
	}
	return lines
}

var errBusy = errors.New("a statement has been running there for too long: try again, or end it (SHOW PROCESSLIST)")

// try locks all shards at once, reads their positions, and unlocks them.
func (t Taking) try(ctx context.Context, all []held) (c Cut, err error) {
	began := t.Now()
	defer func() {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), locking)
		defer cancel()
		if unlocking := each(all, func(_ int, one held) error { _, err := one.conn.Exec(undo, "UNLOCK TABLES"); return err }); err == nil {
			err = unlocking // an error here means that a lock may have ended before, so the cut is not consistent
		}
		c.HeldMs = t.Now().Sub(began).Milliseconds()
	}()
	if err := each(all, func(_ int, one held) error {
		_, err := one.conn.Exec(ctx, "FLUSH TABLES WITH READ LOCK")
		switch link.Code(err) {
		case lockWaitTimeout:
			return fmt.Errorf("pause its writes: %w", errBusy)
		case accessDenied:
			return fmt.Errorf("pause its writes: %w: GRANT RELOAD ON *.* to that account there", err)
		}
		return err
	}); err != nil {
		return Cut{}, err
	}
	return t.look(ctx, all)
}

const (
	lockWaitTimeout = 1205
	accessDenied    = 1227
)

// look records the positions of all locked shards.
func (t Taking) look(ctx context.Context, all []held) (Cut, error) {
	ctx, cancel := context.WithTimeout(ctx, (forgotten-2)*time.Second)
	defer cancel()
	points := make([]Point, len(all))
	if err := each(all, func(i int, one held) (err error) {
		points[i], err = where(ctx, one.conn)
		return err
	}); err != nil {
		return Cut{}, err
	}
	now, err := declared.Current(ctx, t.KV) // the declaration must be unchanged, so that the locked servers are still the primaries
	if err != nil {
		return Cut{}, err
	}
	if err := still(now); err != nil {
		return Cut{}, err
	}
	c := Cut{Cluster: t.Name, At: t.Now().UTC(), MapVersion: now.Routes.Version(), Routes: routes(now.Routes), Shards: map[router.ShardName]Point{}}
	for i, one := range all {
		points[i].Server = now.Shards[one.name].Address
		c.Shards[one.name] = points[i]
	}
	c.Counters, err = Counters(ctx, t.KV)
	return c, err
}

// where returns the position of a server.
func where(ctx context.Context, c *link.Conn) (p Point, err error) {
	p.MariaDB = c.Version().Flavor == link.MariaDB
	variable := "@@GLOBAL.gtid_executed"
	if p.MariaDB {
		variable = "@@GLOBAL.gtid_binlog_state"
	}
	rows, err := c.Query(ctx, "SELECT "+variable)
	if err != nil {
		return p, err
	}
	p.Has = strings.ReplaceAll(string(rows[0][0]), "\n", "")
	if p.Has == "" {
		return p, errors.New("it has no GTIDs, so its position is unknown: set log_bin, and on MySQL gtid_mode = ON")
	}
	if rows, err = c.Query(ctx, "XA RECOVER"); err == nil {
		p.Prepared = len(rows)
	}
	return p, err
}

// Counters returns the granted bounds of all counters of IDs.
func Counters(ctx context.Context, kv *etcd.KV) (map[string]uint64, error) {
	pairs, _, err := kv.GetPrefix(ctx, cluster.SegmentPrefix)
	if err != nil {
		return nil, err
	}
	counters := make(map[string]uint64, len(pairs))
	for _, pair := range pairs {
		var granted struct {
			Bound uint64 `json:"bound"`
		}
		if err := json.Unmarshal(pair.Value, &granted); err == nil { // other keys, such as leases of slots, are no counters
			counters[pair.Key] = granted.Bound
		}
	}
	return counters, nil
}

// each calls do for all shards concurrently. The error names the shards where it failed.
func each(all []held, do func(int, held) error) error {
	failed := make([]error, len(all))
	var doing sync.WaitGroup
	for i, one := range all {
		doing.Go(func() {
			if err := do(i, one); err != nil {
				failed[i] = fmt.Errorf("shard %s: %w", one.name, err)
			}
		})
	}
	doing.Wait()
	return errors.Join(failed...)
}
