package failover

import (
	"errors"
	"strings"
	"testing"

	"locus/control/switchover"
	"locus/router/cluster"
)

const origin = "3e11fa47-71ca-11e1-9e33-c80aa9429562"

// sight returns the poll of a server from a short text: "off" is unreachable, "ro" is read-only, "rw" is
// writable. A number is its last transaction, and a name after it is its source.
func sight(addr, words string) switchover.Sight {
	s := switchover.Sight{View: switchover.View{Addr: addr, Identity: "id-" + addr}}
	fields := strings.Fields(words)
	if fields[0] == "off" {
		s.Err = errors.New("connection refused")
		return s
	}
	s.ReadOnly, s.Has = fields[0] == "ro", origin+":1-"+fields[1]
	if len(fields) > 2 {
		s.Follows = "id-" + fields[2]
	}
	if len(fields) > 3 {
		s.Halted = true
	}
	return s
}

func TestJudge(t *testing.T) {
	had := origin + ":1-10"
	for name, c := range map[string]struct {
		a, b, c string
		known   Known
		want    string // the chosen server, or a part of the error
	}{
		"all is well":                        {"rw 10", "ro 9 a", "ro 8 a", Known{}, "a"},
		"a replica is away":                  {"rw 10", "ro 9 a", "off", Known{}, "a"},
		"promoted by hand":                   {"ro 10 b", "rw 11", "ro 12 b", Known{Had: had}, "b"},
		"the primary is away":                {"off", "rw 10", "ro 10 a", Known{Had: had}, "b"},
		"its replication was stopped":        {"off", "rw 10 a halted", "off", Known{Had: had}, "b"},
		"two take writes":                    {"rw 10", "rw 10", "ro 9 a", Known{Had: had}, "2 servers take writes: a takes writes and has " + had + "; b takes writes"},
		"two others take writes":             {"off", "rw 10", "rw 10", Known{Had: had}, "2 servers take writes: b"},
		"nobody takes writes":                {"ro 10", "ro 10 a", "off", Known{Had: had}, "no server takes writes: a is read-only"},
		"a replica that was never read-only": {"off", "rw 10 a", "ro 10 a", Known{Had: had}, "so it was not promoted"},
		"it lacks what was acknowledged":     {"off", "rw 8", "off", Known{Had: had}, "lacks transactions that a had: " + origin + ":9-10"},
		"it lacks what the primary has":      {"ro 12", "rw 10", "off", Known{Had: had}, "lacks transactions that a had: " + origin + ":11-12"},
		"it lacks what another one has":      {"off", "rw 10", "ro 11 a", Known{Had: had}, "lacks transactions that c had: " + origin + ":11"},
		"what it must have is not known":     {"off", "rw 10", "ro 10 a", Known{}, "it is unknown what a had acknowledged"},
		"proxies reach the primary":          {"off", "rw 10", "ro 10 a", Known{Had: had, Reach: []string{"p1"}}, "which proxies reach: p1"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := []switchover.Sight{sight("a", c.a), sight("b", c.b), sight("c", c.c)}
			to, err := Judge(cluster.Primary{Epoch: 1, Server: "a"}, seen, c.known)
			if err == nil && to != c.want || err != nil && (len(c.want) == 1 || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %v; want %s", to, err, c.want)
			}
		})
	}
}

// With random polls of three servers, Judge never returns a server while another reachable one is writable. It
// never returns one that lacks transactions of the primary, and never one that replicates.
func TestJudgeNeverChoosesByChance(t *testing.T) {
	states := []string{"off", "rw 9", "rw 10", "ro 9", "ro 10", "ro 11 a", "rw 10 a", "rw 11", "rw 10 a halted"}
	for _, a := range states {
		for _, b := range states {
			for _, c := range states {
				for _, known := range []Known{{}, {Had: origin + ":1-10"}, {Had: origin + ":1-10", Reach: []string{"p"}}} {
					seen := []switchover.Sight{sight("a", a), sight("b", b), sight("c", c)}
					to, err := Judge(cluster.Primary{Epoch: 1, Server: "a"}, seen, known)
					if err != nil {
						continue
					}
					for i, s := range seen {
						switch {
						case s.Addr == to && (s.Err == nil && s.ReadOnly || to != "a" && (s.Err != nil || s.Follows != "" && !s.Halted)):
							t.Errorf("%s, %s, %s: %s", a, b, c, to)
						case s.Addr != to && s.Err == nil && !s.ReadOnly:
							t.Errorf("%s, %s, %s: %s, and %s takes writes", a, b, c, to, s.Addr)
						case to != "a" && s.Addr == to && seen[0].Err != nil && (known.Had == "" || known.Reach != nil || strings.Contains([]string{a, b, c}[i], " 9")):
							t.Errorf("%s, %s, %s: %s with %+v", a, b, c, to, known)
						}
					}
				}
			}
		}
	}
}
