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

// OutsideName stands for the server outside of the cluster where a shard's name would stand.
const OutsideName router.ShardName = "outside"

// Outside is a server that is none of the cluster's, and how it is logged in to. It names secrets and holds none.
type Outside struct {
	Address string       `json:"address"` // host:port
	User    string       `json:"user"`
	Secret  string       `json:"secret"`        // names the password
	TLS     endpoint.TLS `json:"tls,omitempty"` // empty is off
	CA      string       `json:"ca,omitempty"`  // names the authorities that TLSVerify trusts; empty: the system's
}

// Check says what is wrong with it.
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

// NewOutside is the record of an import from a server outside of the cluster.
func NewOutside(id string, from Outside, m *router.Map, shards []router.ShardName, tables map[catalog.TableName]catalog.Declaration, by, why string, now time.Time) (*Job, error) {
	return importTo(id, OutsideName, m, &Import{Outside: &from, Tables: tables, Shards: shards}, by, why, now)
}

// source is where the rows come from, in a word.
func (i *Import) source(from router.ShardName) string {
	if i.Outside != nil {
		return i.Outside.Address
	}
	return string(from)
}

// Source is where the rows are before a job, in a word.
func (j *Job) Source() string {
	if j.Import == nil {
		return string(j.From)
	}
	return j.Import.source(j.From)
}

// Ending is what finishing a job does at its source.
func (j *Job) Ending() string {
	if j.Outside() != nil {
		return "keep " + j.Source() + " equal no longer, and leave its rows as they are"
	}
	if j.Import.Global() {
		return "leave the tables global, so that they can't be taken back to " + string(j.From) + " alone"
	}
	return "delete the rows on " + string(j.From)
}

// Outside is the server outside of the cluster that has the job's rows; nil: a shard has.
func (j *Job) Outside() *Outside {
	if j.Import == nil {
		return nil
	}
	return j.Import.Outside
}
