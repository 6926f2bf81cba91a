//go:build servers

package backend

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"locus/internal/test/link"
	"locus/internal/test/servers"
	"locus/router"
)

// If a connection is lost while its statement waits for a lock, the pool kills the statement at the server, and
// it has no effect. Until then the pool reports the statement as orphaned.
func TestWhatWasLeftBehindIsEnded(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		s.Exec(t, "CREATE TABLE one.left_behind (id INT PRIMARY KEY, n INT)", "INSERT INTO one.left_behind VALUES (1, 0)")
		defer s.Exec(t, "DROP TABLE one.left_behind")
		way := link.New(t, s.Addr())
		at := target(s)
		at.Addr = way.Addr()
		r := NewRegistry(Limits{}, slog.New(slog.DiscardHandler))
		r.Apply([]Target{at})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		defer func() {
			stop()
			<-ended
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		p, _ := r.Pool(router.ShardName("s7"))
		holder, err := login(t.Context(), target(s), 0, p.limits.ConnectTimeout)
		if err != nil {
			t.Fatal(err)
		}
		defer holder.close()
		exec(t, holder, "BEGIN", "UPDATE one.left_behind SET n = 0")
		c := borrow(t, p, Default, 0)
		lost := make(chan error, 1)
		go func() {
			_, err := c.Exec(context.WithoutCancel(t.Context()), "UPDATE one.left_behind SET n = 1")
			lost <- err
		}()
		waits := func() bool {
			return value(t, holder, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE one.left_behind%'") == "1"
		}
		eventually(t, "the statement waits for the lock", waits)
		way.Lead("")
		if err := <-lost; err == nil {
			t.Error("the statement was answered")
		}
		before := p.Orphaned()
		p.Discard(c)
		if n := p.Orphaned(); n != before+1 || !p.Ended(before) || p.Ended(n) {
			t.Errorf("%d connections were left behind, ended up to the one before: %t, to this one: %t", n-before, p.Ended(before), p.Ended(n))
		}
		if !waits() {
			t.Error("the statement does not go on at the server")
		}
		way.Lead(s.Addr())
		eventually(t, "what was left behind is ended", func() bool { return p.Ended(p.Orphaned()) })
		if waits() {
			t.Error("the statement goes on at the server")
		}
		exec(t, holder, "COMMIT")
		if n := value(t, holder, "SELECT n FROM one.left_behind"); n != "0" {
			t.Errorf("n = %s", n)
		}
	})
}

// After a restart a server has no statements from before, even if its connection numbers are the same.
func TestARestartedServerHasNothingOfBefore(t *testing.T) {
	engines(t, func(t *testing.T, s *servers.Server) {
		p := realPool(t, target(s), Limits{})
		news := make(chan struct{}, 1)
		p.orphans.news = news
		leave := func() {
			c := borrow(t, p, Default, 0)
			c.Interrupt()
			p.Discard(c)
			<-news
		}
		other := borrow(t, p, Default, 0) // has a number that one of before had, too
		defer p.Return(other)
		for what, long := range map[string]func(o *orphan){
			"orphaned before the server began":  func(o *orphan) { o.threadID, o.since = other.threadID, o.since.Add(-1000*time.Hour) },
			"of a higher number than a new one": func(o *orphan) { o.threadID = 1 << 31 },
		} {
			leave()
			long(&p.orphans.list[0])
			p.endOrphans(t.Context())
			if n := p.counts.kills.Load(); n != 0 {
				t.Errorf("%s: %d connections were killed", what, n)
			}
		}
	})
}

// If there are more orphans than the pool remembers, none of the forgotten ones counts as ended.
func TestMoreOrphansThanAreRemembered(t *testing.T) {
	p, _, _ := fakePool(t, Limits{})
	p.orphans.news = make(chan struct{}, 1)
	for range mostOrphans + 5 {
		p.orphans.note(&Conn{threadID: 7, addr: testTarget.Addr})
	}
	all := p.Orphaned()
	if n := len(p.orphans.list); n != mostOrphans+1 || all != mostOrphans+5 {
		t.Fatalf("%d of %d are remembered", n, all)
	}
	p.forgetOrphans(all, func(o orphan) bool { return o.threadID != 0 })
	if p.Ended(all) || !p.Ended(mostOrphans) {
		t.Errorf("all ended: %t, those that were remembered: %t", p.Ended(all), p.Ended(mostOrphans))
	}
	p.forgetOrphans(all, func(orphan) bool { return true })
	if !p.Ended(all) {
		t.Error("with the server all have ended")
	}
}
