package config

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"locus/config/strict"
)

// Config is one process's locus.yaml. reference.yaml beside this file describes every field and its default. A test
// checks that the two agree.
type Config struct {
	Cluster   string    `yaml:"cluster"`
	Roles     []Task    `yaml:"roles"`
	Etcd      Etcd      `yaml:"etcd"`
	Proxy     Proxy     `yaml:"proxy"`
	HTTP      HTTP      `yaml:"http"`
	Backends  Backends  `yaml:"backends"`
	Secrets   Secrets   `yaml:"secrets"`
	DataDir   string    `yaml:"data_dir"`
	KeyRing   string    `yaml:"key_ring"` // path of the order-number keys; if empty, numbers aren't hidden
	Snowflake Snowflake `yaml:"snowflake"`
	IDs       IDs       `yaml:"ids"`
	Log       Log       `yaml:"log"`
	Tracing   Tracing   `yaml:"tracing"`
}

// Etcd is the address of the cluster's shared state.
type Etcd struct {
	Endpoints    []string `yaml:"endpoints"`
	Username     string   `yaml:"username"`
	PasswordFile string   `yaml:"password_file"`
	TLS          EtcdTLS  `yaml:"tls"`
	DialTimeout  Duration `yaml:"dial_timeout"`
}

// EtcdTLS configures the client side of TLS to etcd. If all fields are empty, plain TCP is used.
type EtcdTLS struct {
	CA   string `yaml:"ca"`
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
}

// Proxy configures the port for MySQL clients.
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
	NetWriteTimeout      Duration     `yaml:"net_write_timeout"`
	NetReadTimeout       Duration     `yaml:"net_read_timeout"`
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

// HTTP configures the port of the dashboard, the HTTP API and the metrics.
type HTTP struct {
	Listen       string        `yaml:"listen"`
	TLS          KeyPair       `yaml:"tls"`
	User         string        `yaml:"user"`
	PasswordFile string        `yaml:"password_file"`
	Accounts     []HTTPAccount `yaml:"accounts"`
}

// HTTPAccount is a further account for HTTP, besides the first.
type HTTPAccount struct {
	User   string `yaml:"user"`
	Role   Role   `yaml:"role"`
	Secret string `yaml:"secret"` // name of the password's secret
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

// Snowflake configures which worker number this process has in the numbers of snowflake generators.
type Snowflake struct {
	Workers string   `yaml:"workers"` // a number, or two with a dash between them
	Reuse   Reuse    `yaml:"reuse"`
	Claim   Duration `yaml:"claim"` // 0: that of Reuse
}

// IDs configures a port for numbers without a login.
type IDs struct {
	Listen string  `yaml:"listen"` // empty: there is none
	TLS    KeyPair `yaml:"tls"`
	// Allow are the networks whose clients are answered, and single addresses.
	Allow []string `yaml:"allow"`
	// Snowflake is the generator that answers /api/snowflake/get/KEY for keys that are not declared.
	Snowflake string `yaml:"snowflake"`
}

// Networks returns the networks whose clients are answered.
func (i IDs) Networks() ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range i.Allow {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			one, oneErr := netip.ParseAddr(text)
			if oneErr != nil {
				return nil, fmt.Errorf("%q: write a network such as 10.1.0.0/16, or an address", text)
			}
			network = netip.PrefixFrom(one, one.BitLen())
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// Reuse is the criterion by which a process finds its last worker number.
type Reuse string

// The ways to find it.
const (
	ReuseByDataDir Reuse = "data_dir"
	ReuseByAddress Reuse = "address"
)

// Range returns the worker numbers from which the process has one.
func (s Snowflake) Range() (first, last int, err error) {
	from, to, several := strings.Cut(s.Workers, "-")
	if !several {
		to = from
	}
	first, err = strconv.Atoi(from)
	if err == nil {
		last, err = strconv.Atoi(to)
	}
	if err != nil || first > last || last > 1023 {
		return 0, 0, fmt.Errorf("%q: write one number, such as 7, or two, such as 512-1023, from 0 to 1023", s.Workers)
	}
	return first, last, nil
}

// ClaimFor returns how far ahead a claim lies.
func (s Snowflake) ClaimFor() time.Duration {
	switch {
	case s.Claim != 0:
		return s.Claim.Std()
	case s.Reuse == ReuseByAddress:
		return 10 * time.Minute
	}
	return 24 * time.Hour
}

// Log configures logging, which always goes to standard error.
type Log struct {
	Format LogFormat `yaml:"format"`
	Level  LogLevel  `yaml:"level"`
}

// Tracing configures where traces go, and how many.
type Tracing struct {
	Endpoint    string   `yaml:"endpoint"` // empty disables tracing
	Sample      float64  `yaml:"sample"`
	HeadersFile string   `yaml:"headers_file"`
	CA          string   `yaml:"ca"`
	Timeout     Duration `yaml:"timeout"`
}

// Load reads a file over the defaults and validates the result. The error names the file, and for invalid YAML or
// unknown fields the line. Problems of values are reported all at once.
func Load(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	c, err := Parse(text)
	if len(bytes.TrimSpace(text)) == 0 || errors.Is(err, strict.ErrEmpty) { // it may not have been written whole
		return nil, fmt.Errorf("configuration %s is empty: write {} for the defaults; locus config reference prints all fields", path)
	}
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return c, nil
}

// Parse is [Load] for a text in memory. An empty text means the defaults.
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

// Prefix returns the prefix of the cluster's keys in etcd.
func (c *Config) Prefix() string { return "/locus/" + c.Cluster + "/" }
