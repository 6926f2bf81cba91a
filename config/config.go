package config

import (
	"fmt"
	"os"
	"strings"

	"locus/config/strict"
)

// Config is one process's locus.yaml. reference.yaml beside this file says
// field by field what each does and what it is by default; a test holds the
// two together.
type Config struct {
	Cluster  string   `yaml:"cluster"`
	Roles    []Task   `yaml:"roles"`
	Etcd     Etcd     `yaml:"etcd"`
	Proxy    Proxy    `yaml:"proxy"`
	HTTP     HTTP     `yaml:"http"`
	Backends Backends `yaml:"backends"`
	Secrets  Secrets  `yaml:"secrets"`
	DataDir  string   `yaml:"data_dir"`
	KeyRing  string   `yaml:"key_ring"` // path of the order-number keys; empty: numbers aren't hidden
	Log      Log      `yaml:"log"`
	Tracing  Tracing  `yaml:"tracing"`
}

// Etcd says where the cluster's shared state is.
type Etcd struct {
	Endpoints    []string `yaml:"endpoints"`
	Username     string   `yaml:"username"`
	PasswordFile string   `yaml:"password_file"`
	TLS          EtcdTLS  `yaml:"tls"`
	DialTimeout  Duration `yaml:"dial_timeout"`
}

// EtcdTLS is the client's side of TLS towards etcd; all empty means plain TCP.
type EtcdTLS struct {
	CA   string `yaml:"ca"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Proxy is the port that MySQL clients connect to.
type Proxy struct {
	Listen               string       `yaml:"listen"`
	Advertise            string       `yaml:"advertise"`
	ServerVersion        string       `yaml:"server_version"`
	TLS                  KeyPair      `yaml:"tls"`
	MaxConnections       int          `yaml:"max_connections"`
	MaxPacketBeforeLogin Size         `yaml:"max_packet_before_login"`
	MaxStatement         Size         `yaml:"max_statement"`
	SessionMemory        Size         `yaml:"session_memory"`
	ConnectTimeout       Duration     `yaml:"connect_timeout"`
	IdleTimeout          Duration     `yaml:"idle_timeout"`
	StatementTimeout     Duration     `yaml:"statement_timeout"`
	SlowStatement        Duration     `yaml:"slow_statement"`
	DrainDelay           Duration     `yaml:"drain_delay"`
	DrainTimeout         Duration     `yaml:"drain_timeout"`
	Transactions         Transactions `yaml:"transactions"`
	LocalInfile          bool         `yaml:"local_infile"`
}

// KeyPair names the PEM files of a server's certificate and key.
type KeyPair struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// HTTP is the port of the dashboard, the HTTP API and the metrics.
type HTTP struct {
	Listen       string        `yaml:"listen"`
	TLS          KeyPair       `yaml:"tls"`
	User         string        `yaml:"user"`
	PasswordFile string        `yaml:"password_file"`
	Accounts     []HTTPAccount `yaml:"accounts"`
}

// HTTPAccount is who may log in over HTTP besides the first.
type HTTPAccount struct {
	User   string `yaml:"user"`
	Role   Role   `yaml:"role"`
	Secret string `yaml:"secret"` // the name of the password
}

// Backends bounds the connections to the shards' database servers.
type Backends struct {
	MaxConnectionsPerShard int      `yaml:"max_connections_per_shard"`
	WaitTimeout            Duration `yaml:"wait_timeout"`
	RestartWait            Duration `yaml:"restart_wait"`
	Stall                  Duration `yaml:"stall"`
	ConnectTimeout         Duration `yaml:"connect_timeout"`
	IdleTimeout            Duration `yaml:"idle_timeout"`
}

// Log says how the process logs, which is always to standard error.
type Log struct {
	Format LogFormat `yaml:"format"`
	Level  LogLevel  `yaml:"level"`
}

// Tracing says where traces go, and of how much.
type Tracing struct {
	Endpoint    string   `yaml:"endpoint"` // empty: off
	Sample      float64  `yaml:"sample"`
	HeadersFile string   `yaml:"headers_file"`
	CA          string   `yaml:"ca"`
	Timeout     Duration `yaml:"timeout"`
}

// Load reads path over the defaults and validates the result. The error names
// the file and, for what isn't YAML or isn't a field, the line; problems of
// values are reported all at once.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, nil
}

// Parse is [Load] for a text that is already in memory. An empty text is the
// defaults.
func Parse(text []byte) (*Config, error) {
	c := Default()
	if strings.TrimSpace(string(text)) != "" {
		if err := strict.Decode(text, c); err != nil {
			return nil, err
		}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

// Prefix is the part of etcd's keyspace that belongs to the cluster.
func (c *Config) Prefix() string { return "/locus/" + c.Cluster + "/" }
