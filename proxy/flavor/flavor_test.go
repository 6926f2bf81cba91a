package flavor

import "testing"

func TestOf(t *testing.T) {
	for version, want := range map[string]Flavor{
		"10.11.14-MariaDB-0+deb12u2": MariaDB, "5.5.5-10.11.14-mariadb": MariaDB, "9.7.0": MySQL, "8.4.3-log": MySQL, "": MySQL,
	} {
		if got := Of(version); got != want {
			t.Errorf("%q is %v, want %v", version, got, want)
		}
	}
}

func TestCharacteristic(t *testing.T) {
	for _, test := range []struct{ name, mysql, mariadb string }{
		{"tx_isolation", "transaction_isolation", "tx_isolation"},
		{"transaction_isolation", "transaction_isolation", "tx_isolation"},
		{"transaction_read_only", "transaction_read_only", "tx_read_only"},
		{"tx_read_only", "transaction_read_only", "tx_read_only"},
		{"transaction_alloc_block_size", "transaction_alloc_block_size", "transaction_alloc_block_size"},
		{"read_only", "read_only", "read_only"},
		{"isolation", "isolation", "isolation"},
	} {
		if got := MySQL.Characteristic(test.name); got != test.mysql {
			t.Errorf("MySQL calls %s %s, want %s", test.name, got, test.mysql)
		}
		if got := MariaDB.Characteristic(test.name); got != test.mariadb {
			t.Errorf("MariaDB calls %s %s, want %s", test.name, got, test.mariadb)
		}
	}
}
