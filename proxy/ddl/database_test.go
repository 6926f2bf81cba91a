package ddl

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/fakeshard"
	"locus/router"
)

// A database is created on one shard after the other. The client gets the row count of one server.
func TestDefineDatabase(t *testing.T) {
	s := newStand(t)
	a := s.request("DROP DATABASE shop")
	s.shards["s0"].Next(fakeshard.Reply{Prefix: "DROP", Affected: 3})
	s.shards["s1"].Next(fakeshard.Reply{Prefix: "DROP", Affected: 2, Warnings: 1})
	ok, err := a.DefineDatabase(a.Statement)
	if err != nil || ok.AffectedRows != 3 || ok.Warnings != 1 || a.Dropped() != "shop" || len(s.log.WarnedBy()) != 0 {
		t.Errorf("%+v, %v, drops %q, warned by %v", ok, err, a.Dropped(), s.log.WarnedBy())
	}
	s.log.Sent(map[router.ShardName]string{"s0": "DO 0; DROP DATABASE shop", "s1": "DO 0; DROP DATABASE shop", "s2": "DO 0; DROP DATABASE shop"})
}

// The client gets the warnings of the first shard only, because those of the others are the same.
func TestDefineDatabaseWarns(t *testing.T) {
	s := newStand(t)
	a := s.request("CREATE DATABASE IF NOT EXISTS old")
	for _, shard := range []router.ShardName{"s0", "s1", "s2"} {
		s.shards[shard].Next(fakeshard.Reply{Prefix: "CREATE", Warnings: 1})
	}
	if ok, err := a.DefineDatabase(a.Statement); err != nil || ok.Warnings != 1 || len(s.log.WarnedBy()) != 1 || s.log.WarnedBy()[0] != "s0" || a.Dropped() != "" {
		t.Errorf("%+v, %v, drops %q, warned by %v", ok, err, a.Dropped(), s.log.WarnedBy())
	}
}

// The client gets the first shard's error. The text after it names the shards where the statement was done.
func TestDefineDatabasePartly(t *testing.T) {
	for _, reply := range failures("CREATE") {
		s := newStand(t)
		a := s.request("CREATE DATABASE new")
		s.shards["s0"].Next(reply)
		if _, err := a.DefineDatabase(a.Statement); !failed(err) || strings.Contains(err.Error(), "was done on") {
			t.Errorf("%+v: %v", reply, err)
		}
		s.log.Sent(map[router.ShardName]string{"s0": "DO 0; CREATE DATABASE new", "s1": "DO 0", "s2": "DO 0"})
		s.shards["s2"].Next(reply)
		_, err := a.DefineDatabase(a.Statement)
		e, told := errors.AsType[*mysql.MyError](err)
		if !told || !strings.Contains(e.Message, "it was done on s0, s1: repeat it with IF (NOT) EXISTS") {
			t.Errorf("%+v: %v", reply, err)
		}
		if reply.Code != 0 && e.Code != reply.Code {
			t.Errorf("error %d where the shard said %d", e.Code, reply.Code)
		}
	}
}
