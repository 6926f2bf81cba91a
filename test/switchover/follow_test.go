package switchover

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/control/declared"
	"locus/control/failover"
	"locus/internal/test/servers"
)

// An operator promotes servers by hand: while the primary runs, after it was killed, and wrongly.
func (s *stand) followed(t *testing.T) {
	if _, err := s.to(0).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.declare(t, "follow")
	for range 2 {
		s.lookAfter(t)
	}
	before := s.total(t)
	l := s.load(t)
	l.more(t, 100)

	if s.servers[0].Engine() == servers.MariaDB { // the proxy's own doing
		s.withoutEtcd(t, l)
	}
	s.readOnly(t, 0, true)
	s.promote(t, 0, 1)
	s.wantNamed(t, 1)
	l.more(t, 100)
	if _, err := s.to(1).Run(t.Context()); err != nil { // the others follow
		t.Fatal(err)
	}
	l.end()
	if got := s.total(t) - before; got < l.acked.Load() {
		t.Errorf("%d writes were acknowledged, and there are %d", l.acked.Load(), got)
	}

	s.readOnly(t, 0, false)
	s.wantTrouble(t, "2 servers take writes: "+s.servers[1].Addr())
	s.readOnly(t, 0, true)
	s.wantTrouble(t, "")

	servers.Eventually(t, "the replica has all", func() error {
		if s.sum(t, 0) != s.sum(t, 1) {
			return errors.New("it lacks rows")
		}
		return nil
	})
	if err := s.servers[1].Kill(); err != nil {
		t.Fatal(err)
	}
	s.wantTrouble(t, "no server takes writes")
	s.promote(t, 1, 0)
	s.wantNamed(t, 0)
	s.load(t).more(t, 100)
	s.servers[1].Restart(t)
	s.readOnly(t, 1, true)
	s.declare(t, "none")
	servers.Eventually(t, "the server that was killed follows", func() error {
		_, err := s.to(0).Run(t.Context())
		return err
	})
}

// withoutEtcd cuts a proxy off from etcd. When its lease has expired, it writes nothing to the shard until etcd
// answers again. Other proxies do, and the proxy itself still writes to other shards.
func (s *stand) withoutEtcd(t *testing.T, l *load) {
	t.Helper()
	db := s.db(t, 1, "app")
	write := func(uid int) error {
		_, err := db.Exec("INSERT INTO counter VALUES (?, 0) ON DUPLICATE KEY UPDATE n = n", uid)
		return err
	}
	own, other := 0, 0 // owners of rows on s0 and s1
	for uid := 5000; own == 0 || other == 0; uid++ {
		if err := write(uid); err != nil {
			t.Fatal(err)
		}
		var n int
		at := s.servers[0].DB(t, schema)
		if err := at.QueryRow("SELECT COUNT(*) FROM counter WHERE uid = ?", uid).Scan(&n); err != nil {
			t.Fatal(err)
		}
		_ = at.Close()
		if n > 0 {
			own = uid
		} else {
			other = uid
		}
	}
	s.away.Store(true)
	servers.Eventually(t, "the lease has run out", func() error {
		err := write(own)
		if err == nil || !strings.Contains(err.Error(), "cut off from etcd") {
			return fmt.Errorf("a write: %w", err)
		}
		return nil
	})
	if err := write(other); err != nil {
		t.Errorf("on another shard: %v", err)
	}
	if err := write(own); err == nil || !strings.Contains(err.Error(), "its lease ended at ") || !strings.Contains(err.Error(), "check etcd") {
		t.Errorf("the error doesn't say since when, or what to do: %v", err)
	}
	l.more(t, 20) // through the other proxy
	s.away.Store(false)
	servers.Eventually(t, "the proxy writes again", func() error { return write(own) })
}

// promote does what an operator does to make a server the primary.
func (s *stand) promote(t *testing.T, from, to int) {
	t.Helper()
	servers.Eventually(t, "the replica has all", func() error {
		select {
		case <-s.servers[from].Done():
			return nil
		default:
		}
		if s.sum(t, from) != s.sum(t, to) {
			return errors.New("it lacks rows")
		}
		return nil
	})
	s.servers[to].Unfollow(t)
	s.readOnly(t, to, false)
}

func (s *stand) readOnly(t *testing.T, server int, on bool) {
	t.Helper()
	switch at := s.servers[server]; {
	case at.Engine() == servers.MariaDB && on:
		at.Exec(t, "SET GLOBAL read_only = ON")
	case at.Engine() == servers.MariaDB:
		at.Exec(t, "SET GLOBAL read_only = OFF")
	case on:
		at.Exec(t, "SET GLOBAL super_read_only = ON")
	default:
		at.Exec(t, "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
	}
}

// wantNamed waits until the document names a server and nothing is left to do.
func (s *stand) wantNamed(t *testing.T, server int) {
	t.Helper()
	servers.Eventually(t, "the document names the server", func() error {
		p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		if err == nil && (p.Server != s.servers[server].Addr() || !p.Settled()) {
			records, _ := failover.Records(t.Context(), s.kv)
			err = fmt.Errorf("%s%+v", p.Encode(), records)
		}
		return err
	})
}

// wantTrouble waits until a problem of s0 is reported.
func (s *stand) wantTrouble(t *testing.T, what string) {
	t.Helper()
	servers.Eventually(t, "what is told of the shard", func() error {
		records, err := failover.Records(t.Context(), s.kv)
		if got := records["s0"].Trouble; err == nil && (!strings.Contains(got, what) || what == "" && got != "") {
			err = errors.New("it is: " + got)
		}
		return err
	})
}
