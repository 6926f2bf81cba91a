// Package endpoint defines how servers other than shards are declared: Redis and memcached. A declaration names
// one server, several, a Redis Cluster, or sentinels that name the master.
//
// It owns the fields of such a declaration. It never validates one (package cluster does), and never dials.
package endpoint

import (
	"strconv"
	"strings"
)

// TLS is the encryption mode of connections to a server.
type TLS string

const (
	TLSOff    TLS = "off"
	TLSOn     TLS = "on"     // encrypted; the certificate is not verified
	TLSVerify TLS = "verify" // encrypted; the certificate and its name are verified
)

// Redis declares one Redis server or several. Exactly one of Server, Several and Sentinel is set.
type Redis struct {
	Server string `yaml:"server,omitempty"` // host:port
	Secret string `yaml:"secret,omitempty"` // name of the secret with the password
	// Servers holds the other ways to name servers, and their login.
	Servers `yaml:",inline"`
}

// Servers declares more than one server: independent ones, a Redis Cluster, or the master that sentinels name.
type Servers struct {
	// Several lists the addresses (host:port) of Redis or memcached servers, each of which counts in a share of
	// its own. With Cluster, it lists some nodes of a Redis Cluster, from which the others are discovered.
	Several []string `yaml:"servers,omitempty,flow"`
	Cluster bool     `yaml:"cluster,omitempty"`
	// Sentinel finds the master through sentinels instead.
	Sentinel *Sentinel `yaml:"sentinel,omitempty,flow"`
	// User is the account in Redis; empty means its default account.
	User string `yaml:"user,omitempty"`
	// TLS and CA have the same meaning as for a shard; empty is off. They apply to sentinels too.
	TLS TLS    `yaml:"tls,omitempty"`
	CA  string `yaml:"ca,omitempty"`
}

// Sentinel declares the sentinels that know the current master.
type Sentinel struct {
	Master  string   `yaml:"master"`
	Servers []string `yaml:"servers,flow"`
	User    string   `yaml:"user,omitempty"`
	Secret  string   `yaml:"secret,omitempty"`
}

// Text returns a text that is equal exactly for equal declarations. It is empty for nil.
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
