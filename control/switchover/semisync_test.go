package switchover

import (
	"maps"
	"strings"
	"testing"
)

// The variables of each engine's servers, and the expected reasons why transactions may be lost.
func TestWhatMayBeLostIsSaid(t *testing.T) {
	mysql := map[string]string{
		"rpl_semi_sync_source_enabled": "ON", "rpl_semi_sync_source_wait_point": "AFTER_SYNC", "rpl_semi_sync_source_timeout": "1000000000000000000",
		"rpl_semi_sync_source_wait_no_replica": "ON", "rpl_semi_sync_source_wait_for_replica_count": "1", "rpl_semi_sync_source_status": "ON",
		"rpl_semi_sync_source_clients": "2", "rpl_semi_sync_replica_enabled": "ON",
	}
	mariadb := map[string]string{
		"rpl_semi_sync_master_enabled": "ON", "rpl_semi_sync_master_wait_point": "AFTER_SYNC", "rpl_semi_sync_master_timeout": "18446744073709551615",
		"rpl_semi_sync_master_wait_no_slave": "ON", "rpl_semi_sync_master_status": "ON", "rpl_semi_sync_master_clients": "1",
	}
	for name, c := range map[string]struct {
		set     map[string]string
		change  map[string]string
		want    string
		nothing bool
	}{
		"MySQL":                 {set: mysql, nothing: true},
		"MariaDB":               {set: mariadb, nothing: true},
		"no plugin":             {set: map[string]string{}, want: "semi-synchronous replication is off"},
		"off":                   {set: mysql, change: map[string]string{"rpl_semi_sync_source_enabled": "OFF"}, want: "is off"},
		"fallen back":           {set: mysql, change: map[string]string{"rpl_semi_sync_source_status": "OFF"}, want: "has fallen back"},
		"MySQL's default":       {set: mysql, change: map[string]string{"rpl_semi_sync_source_timeout": "10000"}, want: "after 10s"},
		"MariaDB's default":     {set: mariadb, change: map[string]string{"rpl_semi_sync_master_wait_point": "AFTER_COMMIT"}, want: "not AFTER_SYNC"},
		"falls back when alone": {set: mariadb, change: map[string]string{"rpl_semi_sync_master_wait_no_slave": "OFF"}, want: "where there are too few"},
	} {
		t.Run(name, func(t *testing.T) {
			set := maps.Clone(c.set)
			maps.Copy(set, c.change)
			if got := semiSyncOf(set).Weak(); (got == "") != c.nothing || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if s := semiSyncOf(mysql); s.Replicas != 2 || s.Copies != 1 || !s.Acknowledges {
		t.Errorf("%+v", s)
	}
}
