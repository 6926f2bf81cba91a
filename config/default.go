package config

import (
	_ "embed"
	"time"
)

//go:embed reference.yaml
var reference string

// Reference returns a locus.yaml that sets every field to its default and describes it.
func Reference() string { return reference }

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		Cluster: "main",
		Roles:   Tasks(),
		Etcd: Etcd{
			Endpoints:   []string{"127.0.0.1:2379"},
			DialTimeout: Duration(5 * time.Second),
		},
		Proxy: Proxy{
			Listen:               "127.0.0.1:4306",
			MaxConnections:       10_000,
			MaxPacketBeforeLogin: 16 << 10,
			MaxStatement:         64 << 20,
			SessionMemory:        1 << 30,
			ConnectTimeout:       Duration(10 * time.Second),
			IdleTimeout:          Duration(8 * time.Hour),
			NetWriteTimeout:      Duration(60 * time.Second),
			NetReadTimeout:       Duration(30 * time.Second),
			StatementTimeout:     Duration(time.Hour),
			SlowStatement:        Duration(time.Second),
			DrainDelay:           Duration(5 * time.Second),
			DrainTimeout:         Duration(10 * time.Second),
			Transactions:         XA,
			LocalInfile:          true,
		},
		HTTP: HTTP{Listen: "127.0.0.1:8306", User: "admin", Accounts: []HTTPAccount{}},
		Backends: Backends{
			MaxConnectionsPerShard: 100,
			WaitTimeout:            Duration(5 * time.Second),
			RestartWait:            Duration(15 * time.Second),
			Stall:                  Duration(5 * time.Second),
			ConnectTimeout:         Duration(5 * time.Second),
			IdleTimeout:            Duration(5 * time.Minute),
		},
		Secrets:   Secrets{Dir: "/etc/locus/secrets"},
		DataDir:   "/var/lib/locus",
		Snowflake: Snowflake{Workers: "0-1023", Reuse: ReuseByDataDir},
		IDs:       IDs{Allow: []string{}},
		Log:       Log{Format: Text, Level: Info},
		Tracing:   Tracing{Sample: 0.01, Timeout: Duration(10 * time.Second)},
	}
}
