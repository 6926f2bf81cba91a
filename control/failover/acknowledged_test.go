package failover

import (
	"testing"

	"locus/control/switchover"
	"locus/router/cluster"
)

// A transaction with which a MariaDB server waits for replicas is in its log, but not acknowledged. If no other
// server has it, no client can miss it.
func TestWhatIsAcknowledged(t *testing.T) {
	primary := switchover.Sight{View: switchover.View{Addr: "a", Identity: "id-a", MariaDB: true, Has: "0-1-10,0-2-7", SemiSync: switchover.SemiSync{Replicas: 2}}}
	others := primary
	others.SemiSync.Replicas = 3
	mysql := primary
	mysql.MariaDB, mysql.Has = false, origin+":1-10"
	follows := func(addr, has, received string) switchover.Sight {
		s := replica(addr, "1", "1")
		s.MariaDB, s.Has, s.Received, s.Stopped, s.SemiSync.Acknowledges = true, has, received, "", true
		return s
	}
	stopped := follows("c", "0-1-9,0-2-7", "0-1-9")
	stopped.Stopped = "it is connecting"
	b, c := follows("b", "0-1-8,0-2-7", "0-1-9"), follows("c", "0-1-7,0-2-7", "0-1-8")
	for name, c := range map[string]struct {
		primary switchover.Sight
		others  []switchover.Sight
		copies  int
		want    string
	}{
		"one waits":                     {primary, []switchover.Sight{b, c}, 1, "0-1-9,0-2-7"},
		"none waits":                    {primary, []switchover.Sight{follows("b", "0-1-10,0-2-7", "0-1-11"), c}, 1, "0-1-10,0-2-7"},
		"nothing waits for replicas":    {primary, []switchover.Sight{b, c}, 0, primary.Has},
		"one is not seen":               {primary, []switchover.Sight{b, off("c")}, 1, primary.Has},
		"one that never followed":       {switchover.Sight{View: switchover.View{Identity: "id-a", MariaDB: true, Has: primary.Has, SemiSync: switchover.SemiSync{Replicas: 1}}}, []switchover.Sight{b, off("d")}, 1, "0-1-9,0-2-7"},
		"somebody else acknowledges":    {others, []switchover.Sight{b, c}, 1, primary.Has},
		"who acknowledges is not sure":  {primary, []switchover.Sight{b, stopped}, 1, primary.Has},
		"MySQL has what is told":        {mysql, []switchover.Sight{replica("b", "9", "9"), replica("c", "9", "9")}, 1, mysql.Has},
		"a domain that no replica has":  {switchover.Sight{View: switchover.View{Identity: "id-a", MariaDB: true, Has: "0-1-9,1-1-3", SemiSync: switchover.SemiSync{Replicas: 2}}}, []switchover.Sight{b, c}, 1, "0-1-9"},
		"it has what replicas have yet": {switchover.Sight{View: switchover.View{Identity: "id-a", MariaDB: true, SemiSync: switchover.SemiSync{Replicas: 2}}}, []switchover.Sight{b, c}, 1, ""},
	} {
		if got := acknowledged(c.primary, c.others, Record{Copies: c.copies, Followers: []string{"b", "c"}}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A replica whose replication was paused by an interrupted switchover is started again. A replica that an operator has stopped
// entirely is left alone.
func TestWhoIsPausedGoesOn(t *testing.T) {
	primary := switchover.Sight{View: switchover.View{Addr: "a", Identity: "id-a", Has: origin + ":1-10"}}
	paused, halted := replica("b", "10", "10"), replica("b", "10", "10")
	paused.Stopped, paused.Paused = "its replication is stopped", true
	halted.Stopped, halted.Halted = "its replication is stopped", true
	if !untidy(cluster.Primary{Server: "a"}, []switchover.Sight{primary, paused}, nil) {
		t.Error("it stays so")
	}
	if untidy(cluster.Primary{Server: "a"}, []switchover.Sight{primary, halted}, nil) {
		t.Error("it is started against somebody's will")
	}
}
