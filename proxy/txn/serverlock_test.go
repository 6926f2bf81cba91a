package txn

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/stmt"
)

var allShards = []router.ShardName{"s0", "s1", "s2"}

const flush, unlock = "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"

// A read lock is on all shards, and remains while transactions begin and end there.
func TestReadLock(t *testing.T) {
	s := newStand(t, XA)
	if err := s.LockServers(stmt.ReadLock, allShards); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(stmt.Opening{Snapshot: true}); err != nil {
		t.Fatal(err)
	}
	for _, shard := range allShards {
		if err := s.Join(shard, 0, "SELECT 1"); err != nil {
			t.Fatal(err)
		}
	}
	s.is(true, allShards...)
	s.sent("s0", flush, "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	s.sent("s1", flush, "XA START t1", "SELECT 1")
	s.sent("s2", flush, "XA START t1", "SELECT 1")
	if err := s.FreeServers(stmt.ReadLock); err != nil || s.ReservesAny() {
		t.Errorf("%v, it still reserves: %t", err, s.ReservesAny())
	}
	s.is(true, allShards...)
	s.sent("s0", unlock)
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	s.sent("s0", "COMMIT")
	if want := []string{"halves"}; !slices.Equal(s.coordinator.Calls, want) {
		t.Errorf("the coordinator was told %v, want %v", s.coordinator.Calls, want)
	}
}

// After an error no shard stays locked.
func TestReadLockRefused(t *testing.T) {
	s := newStand(t, XA)
	s.shards["s1"].Next(fakeshard.Reply{Prefix: flush, Code: mysql.ER_LOCK_WAIT_TIMEOUT})
	says(t, s.LockServers(stmt.ReadLock, allShards), mysql.ER_LOCK_WAIT_TIMEOUT, "")
	if s.ReservesAny() {
		t.Error("it reserves connections")
	}
	s.sent("s0", flush, unlock)
	s.sent("s2")
}

// While a transaction is committed on only some shards, all locks are released and taken again.
func TestReadLockOfOneMoment(t *testing.T) {
	s := newStand(t, XA)
	s.coordinator.Half = [][]twophase.Name{{{Transaction: "t9", Home: "s0"}}}
	if err := s.LockServers(stmt.ReadLock, allShards); err != nil {
		t.Fatal(err)
	}
	s.sent("s0", flush, unlock, flush)
	s.sent("s2", flush, unlock, flush)
	s.Reset()
	if s.ReservesAny() {
		t.Error("it reserves connections")
	}
}

// LOCK INSTANCE does not check transactions, and is a separate lock.
func TestInstanceLock(t *testing.T) {
	s := newStand(t, Multi)
	for _, lock := range []stmt.ServerLock{stmt.InstanceLock, stmt.ReadLock} {
		if err := s.LockServers(lock, allShards[:2]); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.FreeServers(stmt.ReadLock); err != nil || !s.Reserved(InstanceLock) || s.Reserved(ReadLock) {
		t.Errorf("%v, %s", err, s.ReservedWords())
	}
	if err := s.FreeServers(stmt.InstanceLock); err != nil || s.ReservesAny() {
		t.Errorf("%v, %s", err, s.ReservedWords())
	}
	s.sent("s1", "LOCK INSTANCE FOR BACKUP", flush, unlock, "UNLOCK INSTANCE")
	if len(s.coordinator.Calls) > 0 {
		t.Errorf("the coordinator was told %v", s.coordinator.Calls)
	}
}

// If a shard can't be checked now, nothing is locked, because a later check would wait for the lock. A shard that lacks a requirement is locked.
func TestReadLockOfAnUntriedShard(t *testing.T) {
	s := newStand(t, XA)
	s.coordinator.Unready = map[router.ShardName]error{"s1": errors.New("busy")}
	says(t, s.LockServers(stmt.ReadLock, allShards), mysql.ER_LOCK_WAIT_TIMEOUT, "busy; nothing is locked")
	s.sent("s0")
	s.coordinator.Unready["s1"] = &twophase.LackError{Shard: "s1", Err: errors.New("no right")}
	if err := s.LockServers(stmt.ReadLock, allShards); err != nil {
		t.Error(err)
	}
	s.sent("s1", flush)
}
