package floors

// A package imports strictly downwards: only packages of a lower floor, and what
// its line allows by name. Tests may import what they like.
//
// A new package gets a line here, as low as it can stand.
var building = []standing{
	{pkg: "cmd/locus", floor: 6}, // flags, wiring, signals

	{pkg: "cmd/virtual", floor: 5.3},
	{pkg: "cmd/doctor", floor: 5.3}, // asks etcd, proxies and shards how they are
	{pkg: "cmd/demo", floor: 5.2},
	{pkg: "cmd/console", floor: 5.2},
	{pkg: "cmd/generators", floor: 5.1},
	{pkg: "proxy", floor: 5.1},
	{pkg: "cmd/dbserver", floor: 5.1},
	{pkg: "cmd/declared", floor: 5.1},
	{pkg: "cmd/fleet", floor: 5.1},
	{pkg: "cmd/jobs", floor: 5.2},
	{pkg: "cmd/watch", floor: 5.1},
	{pkg: "cmd/tracing", floor: 5.1},

	{pkg: "proxy/session", floor: 4},

	{pkg: "migrate", floor: 4.1},
	{pkg: "migrate/copier", floor: 4},

	{pkg: "proxy/scatter", floor: 3},
	{pkg: "proxy/gather", floor: 3},
	{pkg: "proxy/handshake", floor: 3},
	{pkg: "proxy/schema", floor: 3},
	{pkg: "proxy/sqldb", floor: 2.2}, // shards for packages that know database/sql
	{pkg: "migrate/applier", floor: 3},
	{pkg: "migrate/checksum", floor: 3},
	{pkg: "migrate/preflight", floor: 3},
	{pkg: "migrate/audit", floor: 3},

	{pkg: "proxy/twophase", floor: 2.2},
	{pkg: "proxy/stamp", floor: 2.2}, // fills in what a plan says of an INSERT
	{pkg: "migrate/changes", floor: 2.2},
	{pkg: "proxy/backend", floor: 2.1},
	{pkg: "proxy/meter", floor: 2.1},
	{pkg: "migrate/table", floor: 2.1},
	{pkg: "migrate/job", floor: 2.1},
	{pkg: "router/plan", floor: 2.1},
	{pkg: "router/live", floor: 2.1},
	{pkg: "router/cluster", floor: 2.1},
	{pkg: "idgen/segment", floor: 2.1},
	{pkg: "idgen/row", floor: 2.2},
	{pkg: "idgen/pool", floor: 2.2},
	{pkg: "idgen/memcached", floor: 2.2},
	{pkg: "idgen/autoincrement", floor: 2.1},
	{pkg: "idgen/together", floor: 2},
	{pkg: "idgen/buckets", floor: 2.1},
	{pkg: "idgen/snowflake", floor: 2.1},
	{pkg: "idgen/ha", floor: 2},
	{pkg: "idgen/queue", floor: 2.1},
	{pkg: "idgen/format", floor: 1.1},

	{pkg: "router/catalog", floor: 1.2},
	{pkg: "router/balance", floor: 1.2},
	{pkg: "idgen", floor: 1.2},
	{pkg: "idgen/cipher", floor: 1.2},
	{pkg: "router", floor: 1.1},
	{pkg: "idgen/orderid", floor: 1.1},
	{pkg: "proxy/stream", floor: 1.1},
	{pkg: "migrate/checkpoint", floor: 1.1},

	{pkg: "proxy/flavor", floor: 0}, // what MySQL and MariaDB do differently
	{pkg: "proxy/wire", floor: 0},
	{pkg: "proxy/trace", floor: 1.1},
	{pkg: "proxy/compressed", floor: 0},
	{pkg: "migrate/link", floor: 0},
	{pkg: "router/gene", floor: 0},
	{pkg: "idgen/breaker", floor: 0},
	{pkg: "idgen/redis", floor: 0},
	{pkg: "router/stmt", floor: 0},
	{pkg: "migrate/phase", floor: 0},
	{pkg: "migrate/cutover", floor: 0},
	{pkg: "config/strict", floor: 0}, // YAML as everybody reads it

	{pkg: "config", floor: beside, also: []string{"config/strict"}},
	{pkg: "config/etcd", floor: beside, also: []string{"config"}},
	{pkg: "config/etcd/embedded", floor: beside, also: []string{"config", "config/etcd"}},
}

// beside is the floor of what stands outside the building: it knows nothing of
// our domain, and cmd alone imports it; the others see it through small
// interfaces of their own.
const beside = -1

// Floors say how high a package stands; these say which parts of the building
// keep to themselves, however high.
var apart = []separation{
	{from: "router", to: "proxy", why: "routing is decided without connections"},
	{from: "router", to: "migrate", why: "routing obeys the map and does not know who edits it"},
	{from: "idgen", to: "proxy", why: "the generators serve more than the proxy"},
	{from: "idgen", to: "router/stmt", why: "the generators know no SQL"},
	{from: "idgen", to: "migrate", why: "the generators know no moves"},
	{from: "proxy", to: "migrate", why: "proxy and migrate meet in the route map alone"},
	{from: "migrate", to: "proxy", why: "proxy and migrate meet in the route map alone"},
}

// A library that one package alone speaks can be replaced there.
var exclusive = []exclusivity{
	{library: "github.com/pingcap/tidb/pkg/parser", only: []string{"router/stmt"}, why: "TiDB's parser is behind our own statement"},
	{library: "go.etcd.io", only: []string{"config/etcd", "config/etcd/embedded"}, why: "etcd is behind get, watch and compare-and-swap"},
	{library: "github.com/go-mysql-org/go-mysql/replication", only: []string{"migrate/changes"}, why: "one package reads binary logs"},
	{library: "github.com/go-mysql-org/go-mysql/canal", why: "it silently skips DDL that its parser refuses; replication is what we read"},
	{library: "github.com/go-mysql-org/go-mysql/server", why: "the handshake and the commands are our own"},
	{library: "go.opentelemetry.io", only: []string{"cmd/tracing"}, why: "OpenTelemetry is behind what a statement notes of itself"},
	{library: "charm.land/bubbletea", only: []string{"cmd/watch"}, why: "one package draws on terminals"},
	{library: "github.com/redis/go-redis", only: []string{"idgen/redis"}, why: "one package talks to Redis, and sends nothing twice"},
	{library: "github.com/bradfitz/gomemcache", only: []string{"idgen/memcached"}, why: "one package talks to memcached"},
	{library: "github.com/spf13/cobra", only: []string{"cmd/locus"}, why: "flags are read in one place"},
	{library: "github.com/go-sql-driver/mysql", why: "it is the tests' client; the product speaks through go-mysql or its own wire"},
	{library: "testing", why: "what ships does not test"},
}
