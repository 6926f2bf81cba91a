package backup

import (
	"strings"
	"testing"
)

func TestWhatARestoredServerLacks(t *testing.T) {
	const origin = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
	mysql := func(has string) Point { return Point{Server: "a:1", Has: origin + ":" + has} }
	mariadb := func(has string) Point { return Point{Server: "a:1", MariaDB: true, Has: has} }
	prepared := mysql("1-9")
	prepared.Prepared = 1
	for name, c := range map[string]struct {
		cut, now     Point
		what, remedy string
	}{
		"there":            {mysql("1-9"), mysql("1-9"), "", ""},
		"behind":           {mysql("1-9"), mysql("1-7"), "lacks transactions of the backup: " + origin + ":8-9", "START REPLICA UNTIL SQL_AFTER_GTIDS = '" + origin + ":1-9'"},
		"too far":          {mysql("1-9"), mysql("1-11"), "are later than the backup: " + origin + ":10-11", "from an earlier copy"},
		"a MariaDB there":  {mariadb("0-1-4,0-2-9"), mariadb("0-2-9,0-1-4"), "", ""},
		"a MariaDB behind": {mariadb("0-1-4,0-2-9"), mariadb("0-1-4,0-2-7"), "lacks transactions of the backup", "UNTIL master_gtid_pos = '0-2-9'"},
		"of another kind":  {mariadb("0-1-4"), mysql("1-9"), "of another kind", "of the same kind"},
		"not prepared":     {prepared, mysql("1-9"), "0 transactions are prepared there, and 1 were at the backup", "physical copy"},
	} {
		found := c.cut.compare("s0", c.now)
		if c.what == "" {
			if len(found) != 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if len(found) != 1 || !strings.Contains(found[0].What, c.what) || !strings.Contains(found[0].Remedy, c.remedy) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestTheLastOfEachDomain(t *testing.T) {
	if got := last("1-3-8,0-1-4, 0-2-9"); got != "0-2-9,1-3-8" {
		t.Error(got)
	}
}

func TestNoFileOfACut(t *testing.T) {
	for _, text := range []string{"", "{}", `{"cluster":"x","at":"2026-01-02T03:04:05Z","shards":{},"counters":{}}`, `{"more":1}`} {
		if c, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, c)
		}
	}
}
