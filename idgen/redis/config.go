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

// Config is the address of Redis and the connection settings. One of Address, Cluster and Sentinel is set. Zero fields
// get the default in parentheses.
type Config struct {
	Address  string    // host:port of one server
	Cluster  []string  // host:port of some nodes of a Redis Cluster, from which the others are learned
	Sentinel *Sentinel // identifies the master

	User           string
	Password       func() (string, error) // called at each login (none)
	TLS            *tls.Config            // for servers and sentinels; nil: no encryption
	Database       int                    // number of the database of one server or a master
	Timeout        time.Duration          // time limit for connecting, and for one command (500 ms)
	MaxConnections int                    // connections to each server (10 per processor)
}

// Sentinel configures the sentinels that know the master.
type Sentinel struct {
	Master         string // the master's name
	Servers        []string
	User, Password string
}

// quiet stops the library from writing errors to standard error. Its callers get these errors.
var quiet = sync.OnceFunc(logging.Disable)

// never disables the library's retries, since a fill sent twice would insert its numbers twice.
const never = -1

// once limits dialing to one attempt, because a waiting caller may have another server to ask.
const once = 1

// Open returns a server, a cluster or a master. It is dialed at the first request.
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

// credentials is called at each login, so that a password can change without a restart.
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

// failover follows the master. A server that is no longer the master closes its connections or refuses writes, after
// which the sentinels are asked.
func (c Config) failover() *redis.Client {
	return redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: c.Sentinel.Master, SentinelAddrs: c.Sentinel.Servers,
		SentinelUsername: c.Sentinel.User, SentinelPassword: c.Sentinel.Password,
		DB: c.Database, CredentialsProviderContext: c.credentials, TLSConfig: c.TLS,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, ContextTimeoutEnabled: true,
		PoolSize: c.MaxConnections, MaxRetries: never, DisableIdentity: true,
	})
}

// openCluster returns a client that follows the nodes' redirections, which mean that nothing was run. It must not
// repeat a command that was sent and not answered.
func openCluster(c Config) *Server {
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Cluster, CredentialsProviderContext: c.credentials, TLSConfig: c.TLS,
		DialTimeout: c.Timeout, ReadTimeout: c.Timeout, WriteTimeout: c.Timeout, ContextTimeoutEnabled: true,
		PoolSize: c.MaxConnections, MaxRetries: never, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		NewClient:                newNode,
	})
	// Otherwise the client would learn of a new master only after some seconds.
	return &Server{client: client, where: "Redis Cluster of " + strings.Join(c.Cluster, ", "), away: client.ReloadState}
}

func newNode(o *redis.Options) *redis.Client {
	o.DialerRetries, o.DialerRetryTimeout = once, time.Millisecond
	node := redis.NewClient(o)
	node.AddHook(atMostOnce{})
	return node
}
