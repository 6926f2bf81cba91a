package redis

import (
	"cmp"
	"context"
	"crypto/tls"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Config is where Redis is and how it is talked to: one of Address, Cluster and
// Sentinel. Fields left zero get the value that their comment names.
type Config struct {
	Address  string    // host:port of one server
	Cluster  []string  // some nodes of a Redis Cluster, host:port each; the others are learned from them
	Sentinel *Sentinel // which tells the master

	User           string
	Password       func() (string, error) // asked for at each login (none)
	TLS            *tls.Config            // nil: not encrypted; of sentinels too
	Database       int                    // of one server or a master
	Timeout        time.Duration          // of connecting, and of one command (500 ms)
	MaxConnections int                    // to each server (10 per processor)
}

// Sentinel is who knows which server is the master.
type Sentinel struct {
	Master         string // its name
	Servers        []string
	User, Password string
}

// quiet keeps the library from writing to standard error what its callers are
// told as errors.
var quiet = sync.OnceFunc(logging.Disable)

// never is for the library's retries: a fill that is sent twice would put its
// numbers in twice.
const never = -1

// once is how often a connection is tried: who waits for it can ask elsewhere.
const once = 1

// Open is a server, a cluster or a master that is dialed when it is first asked.
func Open(c Config) *Server {
	quiet()
	c.Timeout = cmp.Or(c.Timeout, 500*time.Millisecond)
	switch {
	case len(c.Cluster) > 0:
		return openCluster(c)
	case c.Sentinel != nil:
		return &Server{client: c.failover(), where: "Redis, master " + c.Sentinel.Master + " of the sentinels at " + strings.Join(c.Sentinel.Servers, ", ")}
	}
	return &Server{client: c.one(), where: "Redis at " + c.Address}
}

// credentials are asked for at each login, so that a password can be changed
// without a restart.
func (c Config) credentials(context.Context) (user, password string, err error) {
	if c.Password == nil {
		return c.User, "", nil
	}
	password, err = c.Password()
	return c.User, password, err
}

func (c Config) one() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: c.Address, DB: c.Database, CredentialsProviderContext: c.credentials, TLSConfig: c.TLS,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, ContextTimeoutEnabled: true,
		PoolSize: c.MaxConnections, MaxRetries: never, DialerRetries: once, DialerRetryTimeout: time.Millisecond, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// failover follows the master. A server that is none any more closes its
// connections, or refuses to write, upon which the sentinels are asked.
func (c Config) failover() *redis.Client {
	return redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: c.Sentinel.Master, SentinelAddrs: c.Sentinel.Servers,
		SentinelUsername: c.Sentinel.User, SentinelPassword: c.Sentinel.Password,
		DB: c.Database, CredentialsProviderContext: c.credentials, TLSConfig: c.TLS,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, ContextTimeoutEnabled: true,
		PoolSize: c.MaxConnections, MaxRetries: never, DisableIdentity: true,
	})
}

// openCluster is a client that follows the nodes' redirections, which say that
// nothing was run. What was sent and not answered it must not send again.
func openCluster(c Config) *Server {
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Cluster, CredentialsProviderContext: c.credentials, TLSConfig: c.TLS,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, ContextTimeoutEnabled: true,
		PoolSize: c.MaxConnections, MaxRetries: never, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		NewClient:                newNode,
	})
	// Which node has become a master is otherwise learned only after some seconds.
	return &Server{client: client, where: "Redis Cluster of " + strings.Join(c.Cluster, ", "), away: client.ReloadState}
}

func newNode(o *redis.Options) *redis.Client {
	o.DialerRetries, o.DialerRetryTimeout = once, time.Millisecond
	node := redis.NewClient(o)
	node.AddHook(atMostOnce{})
	return node
}
