// Package endpoint is how servers beside the shards are declared: Redis and memcached, of which there may be one,
// several, a cluster, or the one that sentinels name.
//
// It owns the words of such a declaration. It never says whether one is right, which is package cluster's to do, and
// never dials.
package endpoint

import (
	"strconv"
	"strings"
)

// TLS is how a connection to a server is protected.
type TLS string

const (
	TLSOff    TLS = "off"
	TLSOn     TLS = "on"     // encrypted; whose certificate it is isn't checked
	TLSVerify TLS = "verify" // encrypted, the certificate and its name are checked
)

// Redis is where one is, or several: one of Server, Several and Sentinel is given.
type Redis struct {
	Server string `yaml:"server,omitempty"` // host:port
	Secret string `yaml:"secret,omitempty"` // names the password
	// Servers say more of where it is.
	Servers `yaml:",inline"`
}

// Servers are more than one server: several that know nothing of each other, a Redis Cluster, or the master that
// sentinels name.
type Servers struct {
	// Several are host:port of Redis or memcached, each of which counts in a share of its own; or, with
	// Cluster, some nodes of a Redis Cluster, which tell of the others.
	Several []string `yaml:"servers,omitempty,flow"`
	Cluster bool     `yaml:"cluster,omitempty"`
	// Sentinel names the master instead.
	Sentinel *Sentinel `yaml:"sentinel,omitempty,flow"`
	// User is the account in Redis; empty is its default one.
	User string `yaml:"user,omitempty"`
	// TLS and CA are as those of a shard; empty is off. They are for sentinels too.
	TLS TLS    `yaml:"tls,omitempty"`
	CA  string `yaml:"ca,omitempty"`
}

// Sentinel is who knows which Redis is the master.
type Sentinel struct {
	Master  string   `yaml:"master"`
	Servers []string `yaml:"servers,flow"`
	User    string   `yaml:"user,omitempty"`
	Secret  string   `yaml:"secret,omitempty"`
}

// Text is the same for declarations that are, and another for each other one. That of nil is empty.
func (r *Redis) Text() string {
	if r == nil {
		return ""
	}
	parts := []string{r.Server, r.Secret, r.User, string(r.TLS), r.CA, strconv.FormatBool(r.Cluster), strings.Join(r.Several, " ")}
	if s := r.Sentinel; s != nil {
		parts = append(parts, s.Master, strings.Join(s.Servers, " "), s.User, s.Secret)
	}
	return strings.Join(parts, "\x00")
}
