package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/router/catalog"
	"locus/router/cluster"
)

// found returns the findings in short form.
func (e *examination) found() string {
	e.order()
	var lines []string
	for _, f := range e.findings {
		lines = append(lines, f.Check+" "+f.Where+": "+f.What)
		if f.Remedy == "" {
			lines = append(lines, "no remedy")
		}
	}
	return strings.Join(lines, "\n")
}

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func at(o Options) *examination {
	o.Now = func() time.Time { return now }
	return &examination{Options: o}
}

func TestMembersOfEtcd(t *testing.T) {
	members := func(all ...etcd.Health) string {
		e := at(Options{Health: func(context.Context) []etcd.Health { return all }})
		if n := e.members(t.Context()); n != len(all) {
			t.Errorf("%d members", n)
		}
		return e.found()
	}
	well := etcd.Health{Endpoint: "a", Version: "3.6.1", Leader: true, Size: 300 << 20, InUse: 200 << 20, Quota: 2 << 30, Clock: now}
	if got := members(well, well); got != "" {
		t.Errorf("of members that are well: %s", got)
	}
	for want, change := range map[string]func(*etcd.Health){
		"etcd b: 90 % of its quota of 1000 MiB are used: at 100 % it accepts no writes": func(h *etcd.Health) { h.Size, h.InUse, h.Quota = 900<<20, 800<<20, 1000<<20 },
		"etcd b: 900 of the 1000 MiB of its file are unused":                            func(h *etcd.Health) { h.Size, h.InUse = 1000<<20, 100<<20 },
		"etcd all endpoints: 2 versions of it run side by side":                         func(h *etcd.Health) { h.Version = "3.5.9" },
		"clocks etcd at b: its clock is 8s ahead of this machine's":                     func(h *etcd.Health) { h.Clock = now.Add(8 * time.Second) },
		"clocks etcd at b: its clock is 7s behind this machine's":                       func(h *etcd.Health) { h.Clock = now.Add(-8 * time.Second) },
		"": func(h *etcd.Health) { h.Clock = time.Time{} },
	} {
		ill := well
		ill.Endpoint = "b"
		change(&ill)
		if got := members(well, ill); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A clock is right if it may have shown that time between question and answer.
func TestClocks(t *testing.T) {
	for _, c := range []struct {
		at, took, rough time.Duration
		want            string
	}{
		{0, 0, 0, ""},
		{time.Second, 0, 0, ""},
		{-time.Second, 0, 0, ""},
		{4 * time.Second, 3 * time.Second, 0, ""},
		{5 * time.Second, 3 * time.Second, 0, "2s ahead of"},
		{-2 * time.Second, 3 * time.Second, 0, "2s behind"},
		{-2 * time.Second, 0, time.Second, ""},
	} {
		e := at(Options{})
		e.clock("x", reading{now.Add(c.at), now, now.Add(c.took), c.rough})
		if got := e.found(); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v after %v: %q", c.at, c.took, got)
		}
	}
}

func TestTheDiskOfADirectory(t *testing.T) {
	all := []disk{{"/dev/shm", 1, 1}, {"/", 2, 1}, {"/srv", 3, 1}, {"/srv/mysql", 4, 1}, {"/srv/mysql-old", 5, 1}}
	for directory, want := range map[string]string{
		"/srv/mysql/data/": "/srv/mysql", "/srv/mysql": "/srv/mysql", "/srv/mysql-new/": "/srv", "/var/lib/mysql/": "/", "relative": "",
	} {
		if got := holding(all, directory); got.path != want {
			t.Errorf("%s is on %q, want %q", directory, got.path, want)
		}
	}
}

func TestFullDisks(t *testing.T) {
	for free, want := range map[int64]string{0: "disk s0: 0 of the 100 GiB of its disk are free", 9: "disk s0: 9 of the 100 GiB of its disk are free", 10: "", 100: ""} {
		e := at(Options{})
		e.room("s0", disk{"/", 100 << 20, free << 20})
		if got := e.found(); got != want {
			t.Errorf("%d GiB: %q, want %q", free, got, want)
		}
	}
	e := at(Options{})
	e.room("s0", disk{})
	if got := e.found(); got != "" {
		t.Errorf("of a server that doesn't tell: %s", got)
	}
}

func TestTablesThatHoldNothing(t *testing.T) {
	orders := catalog.TableName{Schema: "shop", Name: "orders"}
	for _, c := range []struct {
		table       catalog.TableName
		free, holds int64 // GiB
		want        string
	}{
		{orders, 3, 2, "disk s0: 3072 MiB of the file of shop.orders are unused, and 2048 MiB contain rows"},
		{orders, 3, 4, ""},
		{orders, 1, 0, ""},
		{catalog.TableName{Schema: "shop", Name: "others"}, 3, 0, ""},
	} {
		e := at(Options{Cluster: &cluster.Cluster{Tables: map[catalog.TableName]catalog.Declaration{orders: {}}}})
		e.hollowTable("s0", c.table, c.free<<30, c.holds<<30)
		if got := e.found(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestSpaceOfProcesses(t *testing.T) {
	for disk, want := range map[fleet.Disk]string{
		{Dir: "/var/lib/locus", Total: 1 << 40, Available: 300 << 20}: "",
		{Dir: "/var/lib/locus"}: "", // unknown
		{Dir: "/var/lib/locus", Total: 2 << 30, Available: 255 << 20}: "disk mover-1: 255 MiB of the 2048 MiB of the disk with its data_dir are available",
		{Dir: "/var/lib/locus", Total: 2 << 30}:                       "disk mover-1: 0 MiB of the 2048 MiB of the disk with its data_dir are available",
	} {
		e := at(Options{})
		e.spaceOf(map[string]fleet.Disk{"mover-1": disk})
		if got := e.found(); got != want {
			t.Errorf("%+v: %q, should be %q", disk, got, want)
		}
	}
}
