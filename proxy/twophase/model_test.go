package twophase

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"locus/internal/test/scale"
	"locus/router"
)

// stepping has every statement of an actor wait for its turn.
type stepping struct {
	*fakeServers
	a *actor
}

func (s stepping) Exec(ctx context.Context, shard router.ShardName, sql string) (uint64, error) {
	s.a.step(1)
	n, err := s.fakeServers.Exec(ctx, shard, sql)
	s.a.hear("%d %v", n, err)
	return n, err
}

func (s stepping) Query(ctx context.Context, shard router.ShardName, sql string) ([][][]byte, error) {
	s.a.step(1)
	rows, err := s.fakeServers.Query(ctx, shard, sql)
	s.a.hear("%q %v", rows, err)
	return rows, err
}

// recoverer returns a coordinator without any patience: it assumes that the process of each branch that it sees
// is dead.
func recoverer(servers Servers) *Coordinator {
	c := New(Options{Cluster: "test", Holder: holder, Servers: servers, Log: slog.New(slog.DiscardHandler)})
	c.patience, c.kept = 0, 0
	return c
}

// look does the same as Coordinator.scan, but queries one shard after the other.
func (c *Coordinator) look() { c.forgetOld(context.Background(), c.lookOnly()) }

// lookOnly removes no decisions.
func (c *Coordinator) lookOnly() findings {
	ctx := context.Background()
	found := findings{listed: map[router.ShardName]bool{}}
	for _, shard := range c.servers.Shards() {
		branches, err := c.list(ctx, shard)
		found.listed[shard] = err == nil
		found.branches = append(found.branches, branches...)
	}
	c.recover(ctx, c.orphans(found, nil))
	return found
}

// owner commits one transaction. Each step of the commit may succeed, or the process may end before it or after
// it.
type owner struct {
	*actor
	servers  *fakeServers
	name     Name
	branches []router.ShardName
	verdict  Verdict
	told     bool // the client has received the verdict
}

// crash ends the process. Its connections end, and its unprepared work is lost with them.
func (o *owner) crash() {
	o.servers.shards["home"].reserved = ""
	runtime.Goexit()
}

// effect does one thing at a server: or the process ends before, or after it.
func (o *owner) effect(do func() error) error {
	way := o.step(3)
	if way == 1 {
		o.hear("crash before")
		o.crash()
	}
	err := do()
	o.hear("%v", err)
	if way == 2 {
		o.crash()
	}
	return err
}

func (o *owner) prepare() error {
	for _, shard := range o.branches {
		_ = o.effect(func() error {
			o.servers.shards[shard].prepared[o.name.Transaction] = o.name
			return nil
		})
	}
	return nil
}

func (o *owner) decide() error {
	home := o.servers.shards["home"]
	return o.effect(func() error {
		if _, there := home.rows[o.name.Transaction]; there {
			return errDuplicate
		}
		home.reserved = o.name.Transaction
		return nil
	})
}

// commitHome succeeds, or its connection is lost before or after the commit, or the process ends before or
// after it.
func (o *owner) commitHome() error {
	home, way := o.servers.shards["home"], o.step(5)
	o.hear("way %d", way)
	if way == 3 {
		o.crash()
	}
	if way != 1 {
		home.rows[o.name.Transaction] = row{true, shardList(o.branches)}
		home.committed[o.name.Transaction] = true
	}
	home.reserved = ""
	switch way {
	case 4:
		o.crash()
	case 1, 2:
		return errLost
	}
	return nil
}

func (o *owner) settle() Verdict {
	v, _ := settle(context.Background(), stepping{o.servers, o.actor}, o.name)
	return v
}

// finish may lose the connection of a branch. Then it is unknown whether the server has executed the request.
func (o *owner) finish(v Verdict) bool {
	o.servers.shards["home"].reserved = ""
	if v == Unknown {
		return false
	}
	ended := true
	for _, shard := range o.branches {
		err := o.effect(func() error { return o.servers.shards[shard].finish(o.name.Transaction, v == Committed) })
		ended = ended && (err == nil || Gone(err))
	}
	return ended
}

func (o *owner) forget() {
	_ = o.effect(func() error {
		delete(o.servers.shards["home"].rows, o.name.Transaction)
		return nil
	})
}

func (o *owner) run(a *actor) {
	o.actor = a
	o.verdict, _ = Steps{
		Prepare: o.prepare, Decide: o.decide, CommitHome: o.commitHome, Settle: o.settle, Finish: o.finish, Forget: o.forget,
		Leave: func() {}, Stop: func(string) {},
	}.Run()
	o.actor.hear("%v", o.verdict)
	o.told = true
}

// judge runs recovery until nothing is left, and then checks the invariants.
func (o *owner) judge() error {
	last := recoverer(o.servers)
	for range 3 { // finish the branches, see the decision without any, remove it
		last.look()
	}
	t := o.name.Transaction
	home := o.servers.shards["home"]
	for _, shard := range o.branches {
		s := o.servers.shards[shard]
		if len(s.prepared) > 0 {
			return fmt.Errorf("shard %s has a prepared branch", shard)
		}
		if s.committed[t] != home.committed[t] {
			return fmt.Errorf("committed at home: %v, on shard %s: %v", home.committed[t], shard, s.committed[t])
		}
	}
	switch {
	case home.rows[t].committed:
		return errors.New("the decision was not removed")
	case o.told && o.verdict == Committed && !home.committed[t]:
		return errors.New("the client was told that it is committed")
	case o.told && o.verdict == RolledBack && home.committed[t]:
		return errors.New("the client was told that it was rolled back")
	}
	return nil
}

func lookTwice(c *Coordinator) {
	c.look()
	c.look()
}

func lookOnly(c *Coordinator) { c.lookOnly() }

// TestEveryOrder runs one commit and recoverers without patience, in every order of their statements, with a
// crash or a lost answer of the home shard at every point.
func TestEveryOrder(t *testing.T) {
	two := []router.ShardName{"a", "b"}
	t.Run("one recovers and cleans up", func(t *testing.T) { everyOrder(t, two[:scale.Quick(1, 2)], lookTwice) })
	t.Run("two recover", func(t *testing.T) { everyOrder(t, two[:1], lookOnly, lookOnly) })
}

func shardList(names []router.ShardName) string {
	list := string(names[0])
	for _, n := range names[1:] {
		list += "," + string(n)
	}
	return list
}

func everyOrder(t *testing.T, branches []router.ShardName, recoverers ...func(*Coordinator)) {
	t.Helper()
	names := newNames("test", holder)
	states, ends, err := explore(func() (*schedule, func() string, func() error) {
		servers := newFakeServers(append([]router.ShardName{"home"}, branches...)...)
		o := &owner{servers: servers, branches: branches, name: Name{names.cluster + "1", "home"}}
		s := &schedule{events: make(chan *actor)}
		s.start("owner", o.run)
		for i, look := range recoverers {
			s.start(fmt.Sprint("recoverer ", i), func(a *actor) { look(recoverer(stepping{servers, a})) })
		}
		return s, servers.String, o.judge
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d ends", states, ends)
	if ends < 100 {
		t.Errorf("only %d ends were reached", ends)
	}
}
