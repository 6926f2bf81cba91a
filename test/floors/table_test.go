package floors

// apart lists imports that are forbidden in addition to the rules of the layers.
var apart = []separation{
	{from: "router", to: "proxy", why: "routing is decided without connections"},
	{from: "router", to: "migrate", why: "routing obeys the map and does not know who edits it"},
	{from: "idgen", to: "proxy", why: "the generators serve more than the proxy"},
	{from: "idgen", to: "router/stmt", why: "the generators know no SQL"},
	{from: "idgen", to: "migrate", why: "the generators know no moves"},
	{from: "proxy", to: "migrate", why: "proxy and migrate meet in the route map alone"},
	{from: "migrate", to: "proxy", why: "proxy and migrate meet in the route map alone"},
}

// allowed are imports that violate the layers and are allowed nevertheless.
var allowed = map[string][]string{
	"router/catalog": {"config/strict"}, // suggestions for misspelled words
	"router/cluster": {"config/strict"}, // YAML as everybody reads it
}

// A library that one package alone speaks can be replaced there.
var exclusive = []exclusivity{
	{library: "github.com/pingcap/tidb/pkg/parser", only: []string{"router/stmt"}, why: "TiDB's parser is behind our own statement"},
	{library: "go.etcd.io", only: []string{"config/etcd", "config/etcd/embedded"}, why: "etcd is behind get, watch and compare-and-swap"},
	{library: "github.com/go-mysql-org/go-mysql/replication", only: []string{"migrate/changes"}, why: "one package reads binary logs"},
	{library: "github.com/go-mysql-org/go-mysql/canal", why: "it silently skips DDL that its parser refuses; replication is what we read"},
	{library: "github.com/go-mysql-org/go-mysql/server", why: "the handshake and the commands are our own"},
	{library: "go.opentelemetry.io", only: []string{"control/tracing"}, why: "OpenTelemetry is behind what a statement notes of itself"},
	{library: "charm.land/bubbletea", only: []string{"control/watch"}, why: "one package draws on terminals"},
	{library: "github.com/redis/go-redis", only: []string{"idgen/redis"}, why: "one package talks to Redis, and sends nothing twice"},
	{library: "github.com/bradfitz/gomemcache", only: []string{"idgen/memcached"}, why: "one package talks to memcached"},
	{library: "github.com/spf13/cobra", only: []string{"cmd/locus"}, why: "flags are read in one place"},
	{library: "github.com/go-sql-driver/mysql", why: "it is the tests' client; the product speaks through go-mysql or its own wire"},
	{library: "testing", why: "what ships does not test"},
}
