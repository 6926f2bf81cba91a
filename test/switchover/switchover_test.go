package switchover

import (
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"locus/control/declared"
	"locus/control/switchover"
	"locus/internal/test/servers"
)

func TestSwitchover(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := start(t, engine)
		t.Run("under load", func(t *testing.T) { s.underLoad(t) })
		t.Run("gave up", func(t *testing.T) { s.gaveUp(t) })
		t.Run("behind", func(t *testing.T) { s.appliesAll(t) })
		t.Run("broken off", func(t *testing.T) { s.brokenOff(t) })
		t.Run("nobody gives the order again", func(t *testing.T) { s.looksAfterItself(t) })
		t.Run("followed", func(t *testing.T) { s.followed(t) })
		t.Run("taken", func(t *testing.T) { s.taken(t) })
		t.Run("refused", func(t *testing.T) { s.refused(t, engine) })
		t.Run("without replicas", func(t *testing.T) { s.goesOnByHand(t) })
	})
}

func (s *stand) total(t *testing.T) (n int64) {
	t.Helper()
	if err := s.db(t, 0, "app").QueryRow("SELECT SUM(n) FROM counter").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A switchover there and back: no statement fails, nothing is lost, and the former primary follows.
func (s *stand) underLoad(t *testing.T) {
	l := s.load(t)
	for _, server := range []int{1, 0} {
		l.more(t, 200)
		held, err := s.to(server).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("held for %v", held)
		l.more(t, 200)
	}
	l.end()
	if n := l.failed.Load() + l.blind.Load(); n != 0 {
		t.Errorf("%d statements failed, the first: %v", n, l.first)
	}
	if got := s.total(t); got != l.acked.Load() {
		t.Errorf("%d writes were acknowledged, and there are %d", l.acked.Load(), got)
	}
	s.wantPrimary(t, 0)
	var primary, drained string
	if err := s.db(t, 1, "dba").QueryRow("CALL locus.switchover('s0', '"+s.servers[1].Addr()+"')").Scan(new(string), &primary, &drained); err != nil {
		t.Fatal(err)
	}
	s.wantPrimary(t, 1)
}

// The order restarts a replica that has stopped receiving with an error whose cause is gone.
func (s *stand) gaveUp(t *testing.T) {
	replica := s.servers[0].DB(t, "")
	defer replica.Close()
	var own, primary int
	if err := replica.QueryRow("SELECT @@server_id").Scan(&own); err != nil {
		t.Fatal(err)
	}
	if err := s.db(t, 0, "app").QueryRow("SELECT @@server_id").Scan(&primary); err != nil {
		t.Fatal(err)
	}
	s.servers[0].Exec(t, "STOP REPLICA IO_THREAD", fmt.Sprintf("SET GLOBAL server_id = %d", primary), "START REPLICA IO_THREAD")
	servers.Eventually(t, "the replica gives up", func() error { return receives(replica, "No") })
	s.servers[0].Exec(t, fmt.Sprintf("SET GLOBAL server_id = %d", own))
	if err := receives(replica, "No"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []int{0, 1} {
		if _, err := s.to(to).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.wantPrimary(t, 1)
}

// receives fails unless a replica's I/O thread is in a state.
func receives(replica *sql.DB, state string) error {
	rows, err := replica.Query("SHOW REPLICA STATUS")
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(names, func(name string) bool { return name == "Slave_IO_Running" || name == "Replica_IO_Running" })
	values, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if !rows.Next() {
		return errors.Join(errors.New("it follows nobody"), rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	if got := values[at].String; got != state {
		return fmt.Errorf("%s is %s", names[at], got)
	}
	return nil
}

// If a process dies before a line of the order, or on the way to it, the same order completes the switchover.
func (s *stand) brokenOff(t *testing.T) {
	to := 0
	for _, order := range [][]switchover.Line{switchover.Begin, switchover.Finish} {
		for _, line := range order {
			before := s.total(t)
			l := s.load(t)
			l.more(t, 20)
			s.killed(t, to, order, line)
			s.again(t, to, line)
			l.more(t, 20)
			l.end()
			s.wantPrimary(t, to)
			if got := s.total(t) - before; got < l.acked.Load() { // a write whose answer was lost may have taken effect
				t.Errorf("killed before %s: %d writes were acknowledged, and there are %d", line, l.acked.Load(), got)
			}
			to = 1 - to
		}
	}
}

// again repeats an interrupted switchover. If it is undone because the machine is too slow, it is tried again, as its error
// says.
func (s *stand) again(t *testing.T, to int, line switchover.Line) {
	t.Helper()
	servers.Eventually(t, "the order that was broken off before "+string(line)+" is mended", func() error {
		_, err := s.to(to).Run(t.Context())
		again := func(said string) bool { return err != nil && strings.Contains(err.Error(), said) }
		if err != nil && !slices.ContainsFunc([]string{"nothing has changed hands", "repeat the command", "wait until it has caught up"}, again) {
			t.Fatalf("killed before %s: %v", line, err)
		}
		return err
	})
}

// If a process dies before the turning point of its order, the processes that watch the shards undo the order.
// After that point they complete it. It makes no difference if two of them do.
func (s *stand) looksAfterItself(t *testing.T) {
	if _, err := s.to(0).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.lookAfter(t)
	}
	before := s.total(t)
	l := s.load(t)
	for _, c := range []struct {
		order   []switchover.Line
		line    switchover.Line
		primary int
	}{{switchover.Begin, switchover.Writable, 0}, {switchover.Finish, switchover.Former, 1}} {
		l.more(t, 20)
		s.killed(t, 1, c.order, c.line)
		servers.Eventually(t, "the document is settled", func() error {
			p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
			if err == nil && !p.Settled() {
				err = fmt.Errorf("it says %+v", p.Primary)
			}
			return err
		})
		l.more(t, 20)
		s.wantPrimary(t, c.primary)
	}
	l.end()
	if got := s.total(t) - before; got < l.acked.Load() {
		t.Errorf("%d writes were acknowledged, and there are %d", l.acked.Load(), got)
	}
}

// killed gives an order to a process that ends before a line. None of its clean-up runs, and its connections
// and its lease end like those of a killed process. An order that is undone before that line, because the
// machine is too slow for a hold, is given again.
func (s *stand) killed(t *testing.T, to int, order []switchover.Line, line switchover.Line) {
	t.Helper()
	servers.Eventually(t, "the order comes to "+string(line), func() (err error) {
		doomed, turned := s.to(to), order[1] == switchover.Begin[1]
		doomed.Stop = func(at switchover.Line) {
			if turned && at == line {
				runtime.Goexit()
			}
			turned = turned || at == switchover.Turn
		}
		var dead sync.WaitGroup
		dead.Go(func() {
			if _, err = doomed.Run(t.Context()); err == nil {
				t.Errorf("it never came to %s", line)
			}
		})
		dead.Wait()
		return err
	})
}

func (s *stand) refused(t *testing.T, engine servers.Engine) {
	want := func(why string, to int) {
		t.Helper()
		_, err := s.to(to).Run(t.Context())
		refused, ok := errors.AsType[*switchover.Refused](err)
		if !ok || !strings.Contains(refused.Error(), why) {
			t.Errorf("%v, want %s", err, why)
		}
	}
	p := 0
	if _, err := s.to(0).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	replica := s.servers[1]
	stranger := s.to(1)
	stranger.To = "127.0.0.1:1"
	if _, err := stranger.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is not one of the servers of shard s0") {
		t.Error(err)
	}
	replica.Exec(t, "STOP REPLICA")
	want("has stopped replicating", 1)
	replica.Exec(t, "START REPLICA")
	servers.Eventually(t, "it follows", func() error {
		_, err := s.to(p).Run(t.Context()) // it makes all other servers its replicas
		return err
	})
	off := []string{"SET GLOBAL read_only = OFF"}
	if engine == servers.MySQL {
		off = []string{"SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF"}
	}
	replica.Exec(t, off...)
	want("takes writes, and so two servers would", 1)
	replica.Exec(t, "CREATE DATABASE errant")
	want("has transactions that", 1)
	s.servers[0].Exec(t, "GRANT SELECT ON *.* TO shop")
	if engine == servers.MariaDB {
		s.servers[0].Exec(t, "GRANT READ_ONLY ADMIN ON *.* TO shop")
		want("with which it can write to read-only servers", 1)
	}
	p1, err := s.db(t, 0, "app").Exec("UPDATE counter SET n = n WHERE uid = 100")
	if err != nil {
		t.Errorf("the primary after all that: %v, %v", p1, err)
	}
}
