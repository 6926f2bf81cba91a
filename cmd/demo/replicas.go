package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/cmd/dbserver"
	"locus/router"
	"locus/router/cluster"
)

// member is one of a shard's servers.
type member struct {
	*dbserver.Server // replaced by the goroutine of keep, the only one that uses it then

	installation *dbserver.Installation
	options      dbserver.Options
}

// members returns all servers of a shard.
func (s *shard) members() []*member { return append([]*member{s.member}, s.replicas...) }

// addresses returns the addresses of all servers of a shard.
func (s *shard) addresses() (list []string) {
	for _, m := range s.members() {
		list = append(list, m.Addr())
	}
	return list
}

// replicas returns the number of replicas of a shard: as declared, or, for a new cluster, as in the options.
func replicas(o Options, c *cluster.Cluster) func(router.ShardName) int {
	return func(name router.ShardName) int {
		if c == nil {
			return o.Replicas
		}
		return max(0, len(c.Shards[name].Servers)-1)
	}
}

// replicating holds the options of servers of shards with failover. With these, no acknowledged transaction is
// lost when another server is promoted (docs/how-to/failover.md). The servers start read-only, because the
// cluster decides which one is the primary.
var replicating = map[dbserver.Engine][]string{
	dbserver.MariaDB: {
		"--log-slave-updates=ON", "--read-only=ON", "--gtid-strict-mode=ON", "--init-rpl-role=SLAVE", "--rpl-semi-sync-slave-enabled=ON",
		"--rpl-semi-sync-master-wait-point=AFTER_SYNC", "--rpl-semi-sync-master-timeout=18446744073709551615",
	},
	dbserver.MySQL: {
		"--log-replica-updates=ON", "--read-only=ON", "--plugin-load-add=semisync_source.so;semisync_replica.so;mysql_clone.so",
		"--rpl-semi-sync-replica-enabled=ON", "--rpl-semi-sync-source-wait-point=AFTER_SYNC", "--rpl-semi-sync-source-timeout=1000000000000000000",
	},
}

// startReplicated starts the servers of a shard. With an error, it also returns the servers that did start.
func (d *directory) startReplicated(ctx context.Context, installation *dbserver.Installation, name router.ShardName, password string, n int) (*shard, error) {
	s := &shard{name: name, password: password}
	for i := range n + 1 {
		dir := string(name)
		if i > 0 {
			dir = fmt.Sprintf("%s-replica-%d", name, i)
		}
		m, err := d.startMember(ctx, installation, dir)
		switch {
		case err != nil && i == 0:
			return nil, fmt.Errorf("shard %s: %w", name, err)
		case err != nil:
			return s, fmt.Errorf("shard %s: %w", name, err)
		case i == 0:
			s.member = m
		default:
			s.replicas = append(s.replicas, m)
		}
	}
	return s, nil
}

// startMember starts a server on the same port at each start, because the cluster and the other servers know it
// by that port.
func (d *directory) startMember(ctx context.Context, installation *dbserver.Installation, dir string) (*member, error) {
	m := &member{installation: installation, options: dbserver.Options{Dir: d.file(dir), Args: replicating[installation.Engine]}}
	kept := d.file(dir, "port")
	text, err := os.ReadFile(kept)
	if err == nil {
		m.options.Port, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m.Server, err = dbserver.Start(ctx, installation, m.options); err != nil {
		return nil, err
	}
	m.options.Port = m.Port()
	if err := writeFile(kept, strconv.Itoa(m.Port())+"\n"); err != nil {
		return nil, errors.Join(err, m.Kill())
	}
	return m, nil
}

// replicate creates the accounts of a new shard, and makes its replicas follow the first server.
func (d *directory) replicate(ctx context.Context, s *shard) error {
	admin, err := d.secret(adminSecret(s.name), random)
	if err != nil {
		return err
	}
	if err := s.CreateUser(ctx, dbserver.User{Name: shardUser, Password: s.password}); err != nil {
		return err
	}
	rights := "REPLICATION CLIENT, SYSTEM_VARIABLES_ADMIN, REPLICATION_SLAVE_ADMIN, CONNECTION_ADMIN, XA_RECOVER_ADMIN, BACKUP_ADMIN, CLONE_ADMIN"
	writesAnyway := "SUPER, CONNECTION_ADMIN, SYSTEM_USER" // SYSTEM_USER because an account with it can be killed only by accounts that have it too
	if s.Engine() == dbserver.MariaDB {
		rights = "READ_ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, REPLICA MONITOR, CONNECTION ADMIN, BINLOG ADMIN, BINLOG REPLAY"
		writesAnyway = "SUPER, READ_ONLY ADMIN"
	}
	if err := s.Execute(ctx,
		"REVOKE "+writesAnyway+" ON *.* FROM "+shardUser, // these privileges would let the account write to read-only replicas
		fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY '%s'", adminUser, admin),
		fmt.Sprintf("GRANT PROCESS, RELOAD, REPLICATION SLAVE, %s ON *.* TO %s", rights, adminUser),
	); err != nil {
		return err
	}
	follow := fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=%d, SOURCE_USER='%s', SOURCE_PASSWORD='%s', "+
		"SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0", s.Port(), adminUser, admin)
	if s.Engine() == dbserver.MariaDB {
		follow = fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='%s', MASTER_PASSWORD='%s', "+
			"MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1", s.Port(), adminUser, admin)
	}
	for _, m := range s.replicas {
		if err := m.Execute(ctx, "STOP REPLICA", follow, "START REPLICA"); err != nil {
			return err
		}
	}
	return nil
}

// startsAgain is the time after which a killed server is started again, as a service manager would do. It is
// long enough for another server to be promoted before.
const startsAgain = 8 * time.Second

// keep reports the end of one of a shard's servers. If the shard has other servers, keep starts the server
// again, until the demo ends.
func (r *running) keep(ctx context.Context, s *shard, m *member) {
	for {
		select {
		case <-m.Done():
		case <-ctx.Done():
			return
		}
		r.say("shard %s: %v", s.name, m.Err())
		if len(s.replicas) == 0 {
			return
		}
		r.say("shard %s: %s is started again in %v", s.name, m.Addr(), startsAgain)
		select {
		case <-time.After(startsAgain):
		case <-ctx.Done():
			return
		}
		server, err := dbserver.Start(ctx, m.installation, m.options)
		if err != nil {
			r.say("shard %s: %v", s.name, err)
			return
		}
		m.Server = server
		r.say("shard %s: %s is started again", s.name, m.Addr())
	}
}

// awaitPrimaries waits until all shards are writable. In a shard with failover, the watching process makes the
// primary writable soon after its start.
func (r *running) awaitPrimaries(ctx context.Context, password string) error {
	if !slices.ContainsFunc(r.shards, func(s *shard) bool { return len(s.replicas) > 0 }) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, proxyStartPatience)
	defer cancel()
	again := time.NewTicker(proxyPollEvery)
	defer again.Stop()
	for {
		err := r.writes(ctx, password)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the shards accept no writes: %w; locus doctor -c %s shows the reason", err, r.proxies[0].config)
		case <-again.C:
		}
	}
}

func (r *running) writes(ctx context.Context, password string) error {
	c, err := connect(ctx, r.proxies[0].addr, password)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.Execute("DELETE FROM " + database + ".product WHERE product_id < 0") // no shard has such a row
	return err
}
