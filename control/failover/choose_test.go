package failover

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// replica returns the poll of a server that follows a primary. It has applied transactions up to one number,
// and has received transactions up to another.
func replica(addr, has, sent string, change ...func(*switchover.Sight)) switchover.Sight {
	s := switchover.Sight{View: switchover.View{
		Addr: addr, Identity: "id-" + addr, ReadOnly: true, Follows: "id-a", Source: "a", GTIDs: true, Logs: true, Applies: true,
		Stopped: "error connecting to a", Has: origin + ":1-" + has, Received: origin + ":1-" + sent,
	}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func off(addr string) switchover.Sight {
	return switchover.Sight{View: switchover.View{Addr: addr}, Err: errors.New("connection refused")}
}

// skipping returns the poll of a MariaDB server with server ID 7 that was the primary before.
func skipping(addr, has string) switchover.Sight {
	s := replica(addr, "1", "1")
	s.MariaDB, s.Has, s.Received = true, has, ""
	if addr == "b" {
		s.Identity = "7"
	}
	return s
}

// missed are all proxies, for long enough.
var missed = Away{Votes: votes{Proxies: 3, Down: 3, Why: "connection refused"}, For: 4 * time.Second, After: 3 * time.Second}

func TestChoose(t *testing.T) {
	a := off("a")
	alive := switchover.Sight{View: switchover.View{Addr: "a", Identity: "id-a", Has: origin + ":1-12"}}
	had := origin + ":1-10"
	known := Known{Shard: "s0", Had: had, Identity: "id-a", Copies: 1, Followers: []string{"b", "c"}, Away: missed}
	back := func(has string) switchover.Sight {
		return switchover.Sight{View: switchover.View{Addr: "a", Identity: "id-a", ReadOnly: true, Has: origin + ":1-" + has}}
	}
	mariadb := func(s switchover.Sight) switchover.Sight {
		s.MariaDB, s.Has = true, "0-1-10"
		return s
	}
	reached := func(k *Known) { k.Away = Away{} }
	own := func(n string) func(*switchover.Sight) {
		return func(s *switchover.Sight) { s.Has += ",4e11fa47-71ca-11e1-9e33-c80aa9429562:1-" + n }
	}
	set := func(f func(v *switchover.View)) func(*switchover.Sight) {
		return func(s *switchover.Sight) { f(&s.View) }
	}
	for name, c := range map[string]struct {
		seen  []switchover.Sight
		known func(*Known)
		doc   cluster.Primary
		want  string // the chosen server, or a part of the error
	}{
		"the one that has most":                   {seen: []switchover.Sight{a, replica("b", "10", "10"), replica("c", "10", "11")}, want: "c"},
		"what it was sent counts":                 {seen: []switchover.Sight{a, replica("b", "9", "11"), replica("c", "10", "10")}, want: "b"},
		"both have the same":                      {seen: []switchover.Sight{a, replica("b", "10", "10"), replica("c", "10", "10")}, want: "b"},
		"the only one":                            {seen: []switchover.Sight{a, replica("b", "10", "11")}, want: "b"},
		"not for long enough":                     {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Away.For = 2 * time.Second }, want: "a"},
		"one of three proxies does not see it":    {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Away.Votes.Down = 1 }, want: "a"},
		"one of two proxies sees it":              {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Away.Votes = votes{Proxies: 2, Down: 1} }, want: "a"},
		"nobody is registered":                    {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Away.Votes = votes{} }, want: "a"},
		"all but this process miss it":            {seen: []switchover.Sight{alive, replica("b", "10", "12"), replica("c", "10", "11")}, want: "b"},
		"it has more, and takes no writes":        {seen: []switchover.Sight{replica("a", "12", "12"), replica("b", "10", "11"), replica("c", "10", "10")}, want: "b lacks transactions that it has: " + origin + ":12"},
		"two that have what the other lacks":      {seen: []switchover.Sight{a, replica("b", "11", "11"), replica("c", "10", "10", own("2"))}, want: "b has " + origin + ":1-11 and lacks 4e11fa47-71ca-11e1-9e33-c80aa9429562:1-2 of c, which has"},
		"one with transactions of its own":        {seen: []switchover.Sight{a, replica("b", "10", "10"), replica("c", "10", "10", own("2"))}, known: func(k *Known) { k.Errant = map[string]string{"c": "4e11fa47-71ca-11e1-9e33-c80aa9429562:1-2"} }, want: "b"},
		"it had most, and some of its own":        {seen: []switchover.Sight{a, replica("b", "10", "10"), replica("c", "11", "11", own("2"))}, known: func(k *Known) { k.Errant = map[string]string{"c": "4e11fa47-71ca-11e1-9e33-c80aa9429562:1-2"} }, want: "which can't be the primary"},
		"an acknowledgement may be elsewhere":     {seen: []switchover.Sight{a, replica("b", "10", "11"), off("c")}, want: "c can't be reached, and may be the only one with all acknowledged transactions"},
		"two acknowledge, one is seen":            {seen: []switchover.Sight{a, replica("b", "10", "11"), off("c")}, known: func(k *Known) { k.Copies = 2 }, want: "b"},
		"the other one has never followed":        {seen: []switchover.Sight{a, replica("b", "10", "11"), off("c")}, known: func(k *Known) { k.Followers = []string{"b"} }, want: "b"},
		"nobody waits for replicas":               {seen: []switchover.Sight{a, replica("b", "10", "11"), off("c")}, known: func(k *Known) { k.Copies = 0 }, want: "b"},
		"nobody waits, and it lacks something":    {seen: []switchover.Sight{a, replica("b", "8", "8"), off("c")}, known: func(k *Known) { k.Copies = 0 }, want: "lacks transactions that the primary had: " + origin + ":9-10"},
		"too far behind":                          {seen: []switchover.Sight{a, replica("b", "2", "10")}, want: "b"}, // the candidate must first apply what it has received
		"what it had is not known":                {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Had = "" }, want: "it is unknown what it had acknowledged"},
		"a replica that follows nobody":           {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.Follows, v.Source = "", "" }))}, want: "b follows nobody"},
		"a replica of another one":                {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.Follows, v.Source = "x", "x" }))}, want: "follows another server"},
		"a replica that takes writes":             {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.ReadOnly = false }))}, want: "b takes writes"},
		"it does not apply":                       {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.Applies, v.Stopped = false, "a duplicate key" }))}, want: "b has stopped applying transactions: a duplicate key"},
		"no GTIDs":                                {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.GTIDs = false }))}, want: "b does not replicate by GTIDs"},
		"a member of a group":                     {seen: []switchover.Sight{alive, replica("b", "10", "11", set(func(v *switchover.View) { v.Group = true }))}, known: reached, want: "b is a member of a group"},
		"no log of what it is sent":               {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.Logs = false }))}, want: "log_replica_updates"},
		"the proxies can't log in there":          {seen: []switchover.Sight{a, replica("b", "10", "11")}, known: func(k *Known) { k.Reached = map[string]votes{"b": {Proxies: 3, Down: 3, Why: "access denied"}} }, want: "b is not reached by 3 of 3 proxies (access denied)"},
		"no other one is reached":                 {seen: []switchover.Sight{a, off("b"), off("c")}, want: "b can't be reached"},
		"a promotion was broken off":              {seen: []switchover.Sight{a, replica("b", "10", "11", set(func(v *switchover.View) { v.ReadOnly, v.Applies = false, false }))}, doc: cluster.Primary{Next: "b", Cause: cluster.Lost}, want: "b"},
		"it was broken off, and that one is off":  {seen: []switchover.Sight{a, off("b"), replica("c", "10", "11")}, doc: cluster.Primary{Next: "b", Cause: cluster.Lost}, want: "b can't be reached, and may be the only one"},
		"it was broken off, and another has more": {seen: []switchover.Sight{a, replica("b", "10", "10"), replica("c", "10", "11")}, doc: cluster.Primary{Next: "b", Cause: cluster.Lost}, want: "c"},
		"restarted, and it has all":               {seen: []switchover.Sight{back("11"), replica("b", "10", "11"), replica("c", "10", "11")}, known: reached, want: "a"},
		"restarted, and it has taken back":        {seen: []switchover.Sight{back("10"), replica("b", "10", "11"), replica("c", "10", "10")}, known: reached, want: "b"},
		"restarted, and it has lost what it had":  {seen: []switchover.Sight{back("8"), replica("b", "10", "10"), replica("c", "8", "8")}, known: reached, want: "b"},
		"restarted, and empty, as are all":        {seen: []switchover.Sight{back("8"), replica("b", "8", "8"), replica("c", "8", "8")}, known: reached, want: "takes no writes, and lacks transactions that it had"},
		"restarted, and a replica is not seen":    {seen: []switchover.Sight{back("10"), replica("b", "10", "10"), off("c")}, known: reached, want: "a"}, // MySQL takes nothing back
		"restarted MariaDB, one is not seen":      {seen: []switchover.Sight{mariadb(back("10")), off("c")}, known: func(k *Known) { k.Away, k.Had = Away{}, "0-1-10" }, want: "may be the only one with transactions that were acknowledged before"},
		"a MariaDB left out what it had written": {
			seen: []switchover.Sight{a, skipping("b", "0-7-85,0-9-1466"), skipping("c", "0-7-86,0-9-1466")}, known: func(k *Known) { k.Had = "0-7-86,0-9-1377" },
			want: "c",
		},
		"a MariaDB did, and has most": {
			seen: []switchover.Sight{a, skipping("b", "0-7-85,0-9-1467"), skipping("c", "0-7-86,0-9-1466")}, known: func(k *Known) { k.Had = "0-7-86,0-9-1377" },
			want: "no other server has all that the others have",
		},
		"a MariaDB did, and is the only one": {
			seen: []switchover.Sight{a, skipping("b", "0-7-85,0-9-1467")}, known: func(k *Known) { k.Had = "0-7-86,0-9-1377" },
			want: "has skipped 0-7-86, which it wrote before it was restarted",
		},
		"it was broken off, and the primary is back": {
			seen: []switchover.Sight{alive, replica("b", "10", "10")}, known: func(k *Known) { k.Away = Away{} },
			doc: cluster.Primary{Next: "b", Cause: cluster.Lost}, want: "a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k, doc := known, c.doc
			doc.Epoch, doc.Server = 1, "a"
			k.Errant = maps.Clone(k.Errant)
			if c.known != nil {
				c.known(&k)
			}
			to, err := Choose(doc, c.seen, k)
			if err == nil && to != c.want || err != nil && (len(c.want) == 1 || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %v; want %s", to, err, c.want)
			}
		})
	}
}

// With random polls, Choose never returns a server that lacks transactions of the primary or of another
// reachable server, or transactions that an unreachable server may have acknowledged. It never replaces a
// primary that most proxies reach.
func TestChooseNeverLosesWhatMayBeAcknowledged(t *testing.T) {
	states := map[string]func(addr string) switchover.Sight{
		"off": off,
		"9":   func(addr string) switchover.Sight { return replica(addr, "9", "9") },
		"10":  func(addr string) switchover.Sight { return replica(addr, "9", "10") },
		"11":  func(addr string) switchover.Sight { return replica(addr, "11", "10") },
		"nobody's": func(addr string) switchover.Sight {
			s := replica(addr, "12", "12")
			s.Follows, s.Source = "", ""
			return s
		},
		"writable": func(addr string) switchover.Sight { s := replica(addr, "12", "12"); s.ReadOnly = false; return s },
	}
	most := map[string]int{"9": 9, "10": 10, "11": 11, "nobody's": 12, "writable": 12}
	for b := range states {
		for c := range states {
			for down := range 4 {
				for copies := range 3 {
					k := Known{Had: origin + ":1-10", Identity: "id-a", Copies: copies, Followers: []string{"b", "c"}, Away: missed}
					k.Away.Votes.Down = down
					to, err := Choose(cluster.Primary{Epoch: 1, Server: "a"}, []switchover.Sight{off("a"), states[b]("b"), states[c]("c")}, k)
					if err != nil {
						continue
					}
					if (to == "a") != (down < 2) {
						t.Errorf("%s with %d of 3 proxies that miss it", to, down)
					}
					if to == "a" {
						continue
					}
					chosen, rest := b, c
					if to == "c" {
						chosen, rest = c, b
					}
					if most[chosen] < 10 || most[chosen] < most[rest] || chosen == "nobody's" || chosen == "writable" || rest == "off" && copies == 1 {
						t.Errorf("%s of b (%s) and c (%s), with %d copies", to, b, c, copies)
					}
				}
			}
		}
	}
}

func TestAPrimaryIsMissedByMostAndForLong(t *testing.T) {
	at := time.Unix(1e9, 0)
	var a absence
	see := func(after time.Duration, v votes) time.Duration {
		at = at.Add(after)
		a.note(at, v)
		return a.lasts(at)
	}
	for _, c := range []struct {
		after time.Duration
		v     votes
		want  time.Duration
	}{
		{0, votes{Proxies: 3, Down: 1}, 0},
		{time.Second, votes{Proxies: 3, Down: 2}, 0},
		{time.Second, votes{Proxies: 3, Down: 3}, time.Second},
		{time.Second, votes{Proxies: 3, Down: 1, Mute: 2}, 2 * time.Second},
		{time.Second, votes{Proxies: 3, Down: 1}, 0},
		{time.Second, votes{Proxies: 3, Down: 1, Mute: 2}, 0},
		{time.Second, votes{Proxies: 4, Down: 2}, 0},                                        // half of them is not a majority
		{time.Second, votes{Proxies: 2, Down: 2, Silent: 5 * time.Second}, 5 * time.Second}, // it has frozen
		{time.Second, votes{Proxies: 2, Down: 2}, 6 * time.Second},
	} {
		if got := see(c.after, c.v); got != c.want {
			t.Errorf("%+v: %v, want %v", c.v, got, c.want)
		}
	}
	for range comings {
		if a.comesAndGoes(at) {
			t.Error("it is said to come and go already")
		}
		see(time.Second, votes{Proxies: 1})
		see(time.Second, votes{Proxies: 1, Down: 1})
		if len(a.begins) >= comings {
			break
		}
	}
	if !a.comesAndGoes(at) || a.comesAndGoes(at.Add(2*comingsWithin)) {
		t.Errorf("it comes and goes: %v", a.begins)
	}
}

// A primary that runs without replicas has acknowledged transactions that no replica has, whatever its state
// was at the last poll. So an unreachable replica no longer prevents a promotion. The promoted server must
// still have everything that a poll has seen on the primary.
func TestAlone(t *testing.T) {
	known := Known{Shard: "s0", Had: origin + ":1-10", Identity: "id-a", Copies: 1, Followers: []string{"b", "c"}, Away: missed}
	seen := []switchover.Sight{off("a"), replica("b", "10", "10"), off("c")}
	alone := cluster.Primary{Server: "a"}
	if to, err := Choose(alone, seen, known); to != "" || err == nil || !strings.Contains(err.Error(), "may be the only one with all acknowledged transactions") {
		t.Error(to, err)
	}
	alone.Alone = true
	if to, err := Choose(alone, seen, known); to != "b" || err != nil {
		t.Error(to, err)
	}
	seen[1] = replica("b", "9", "9")
	if to, err := Choose(alone, seen, known); to == "b" && err == nil {
		t.Error("a server that lacks what the primary had")
	}
}
