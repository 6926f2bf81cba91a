package job

import (
	"errors"
	"fmt"
	"net"
	"time"

	"locus/router"
	"locus/router/catalog"
	"locus/router/endpoint"
)

// OutsideName is used in place of a shard's name for the server outside of the cluster.
const OutsideName router.ShardName = "outside"

// Outside is the address and the login of a server outside of the cluster. It contains names of secrets, but no
// secret.
type Outside struct {
	Address string       `json:"address"` // host:port
	User    string       `json:"user"`
	Secret  string       `json:"secret"`        // name of the secret with the password
	TLS     endpoint.TLS `json:"tls,omitempty"` // empty means off
	CA      string       `json:"ca,omitempty"`  // name of the secret with the CA certificates that TLSVerify trusts; empty: the system's
}

// Check returns an error if the address or the login is invalid.
func (o *Outside) Check() error {
	if _, _, err := net.SplitHostPort(o.Address); err != nil {
		return fmt.Errorf("the server's address %q: write it as host:port", o.Address)
	}
	switch {
	case o.User == "":
		return errors.New("the server's user is missing")
	case o.Secret == "":
		return errors.New("the name of the secret with the server's password is missing: give it by --secret")
	case o.TLS != "" && o.TLS != endpoint.TLSOff && o.TLS != endpoint.TLSOn && o.TLS != endpoint.TLSVerify:
		return fmt.Errorf("tls %q: it is one of off, on and verify", o.TLS)
	case o.CA != "" && o.TLS != endpoint.TLSVerify:
		return errors.New("authorities are looked at with tls verify alone")
	}
	return nil
}

// NewOutside returns the record of a new import from a server outside of the cluster.
func NewOutside(id string, from Outside, m *router.Map, shards []router.ShardName, tables map[catalog.TableName]catalog.Declaration, by, why string, now time.Time) (*Job, error) {
	return importTo(id, OutsideName, m, &Import{Outside: &from, Tables: tables, Shards: shards}, by, why, now)
}

// source returns the name or address of the import's source.
func (i *Import) source(from router.ShardName) string {
	if i.Outside != nil {
		return i.Outside.Address
	}
	return string(from)
}

// Source returns the name or address of the job's source.
func (j *Job) Source() string {
	if j.Import == nil {
		return string(j.From)
	}
	return j.Import.source(j.From)
}

// Ending describes the effect at the source of finishing the job.
func (j *Job) Ending() string {
	if j.Outside() != nil {
		return "keep " + j.Source() + " equal no longer, and leave its rows as they are"
	}
	if j.Import.Global() {
		return "leave the tables global, so that they can't be taken back to " + string(j.From) + " alone"
	}
	return "delete the rows on " + string(j.From)
}

// Outside returns the server outside of the cluster that has the job's rows, or nil if a shard has them.
func (j *Job) Outside() *Outside {
	if j.Import == nil {
		return nil
	}
	return j.Import.Outside
}
