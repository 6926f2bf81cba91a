package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"

	"locus/proxy/handshake"
	"locus/proxy/snapshot"
	"locus/proxy/sysvars"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// accounts looks up logins in the state in force. It implements [handshake.Accounts].
type accounts struct{ p *Proxy }

func (a accounts) Lookup(user string) (handshake.Account, bool) {
	return a.p.live.Load().accounts.Lookup(user)
}

// logins returns the directory of the declared logins. A user whose secret can't be read can't log in, and is in lockedOut with the
// error. The other users can.
func (b *builder) logins(c *cluster.Cluster) (_ *handshake.Directory, lockedOut map[string]string, err error) {
	var list []handshake.Account
	for _, name := range c.UserNames() {
		u := c.Users[name]
		a, err := b.login(name, u)
		var missing *secretMissing
		switch {
		case errors.As(err, &missing):
			b.log.Error("user can't log in", "user", name, "error", err)
			if lockedOut == nil {
				lockedOut = map[string]string{}
			}
			lockedOut[name] = err.Error()
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("user %s: %w", name, err)
		case u.TLS == cluster.TLSRequired:
			a = a.Encrypted()
		}
		list = append(list, a)
	}
	return handshake.NewDirectory(list...), lockedOut, nil
}

// secretMissing is the error of one user whose password can't be read. The other users can log in.
type secretMissing struct{ error }

func (b *builder) login(name string, u cluster.User) (handshake.Account, error) {
	if u.AuthenticationString != "" {
		return handshake.WithHash(name, u.AuthenticationString)
	}
	password, err := b.secrets(u.Secret)
	if err != nil {
		return handshake.Account{}, &secretMissing{err}
	}
	return handshake.WithPassword(name, password), nil
}

// users returns the declared users' rights and limits, which sessions obey. Rights that have not changed keep their address and ID,
// so that plans that were checked against them stay valid.
func (b *builder) users(c *cluster.Cluster) map[string]*snapshot.Account {
	accounts := make(map[string]*snapshot.Account, len(c.Users))
	for name, u := range c.Users {
		accounts[name] = &snapshot.Account{
			Rights:           b.rights(name, u),
			Scatter:          guard(u.Scatter),
			ScatterWrites:    guard(cmp.Or(u.ScatterWrites, cluster.GuardRefuse)),
			Unfiltered:       guard(u.Unfiltered),
			LargeOffset:      guard(u.LargeOffset),
			GatherRows:       u.GatherRows,
			GatherBytes:      u.GatherMiB << 20,
			LargeGather:      guard(cmp.Or(u.LargeGather, cluster.GuardRefuse)),
			Admin:            u.Admin,
			Reads:            readsFrom[u.Read],
			MaxConnections:   u.MaxConnections,
			StatementTimeout: u.Timeout(),
			SlowStatement:    u.Slow(),
		}
	}
	return accounts
}

// readsFrom maps the declared source of reads to the initial setting of an account's sessions.
var readsFrom = map[cluster.ReadFrom]sysvars.ReadsFrom{
	"": sysvars.Primary, cluster.ReadPrimary: sysvars.Primary, cluster.ReadReplica: sysvars.Replica, cluster.ReadSession: sysvars.OwnReplica,
}

func guard(g cluster.Guard) snapshot.Guard {
	switch g {
	case cluster.GuardWarn:
		return snapshot.Warn
	case cluster.GuardRefuse:
		return snapshot.Refuse
	case cluster.GuardAllow:
	}
	return snapshot.Allow
}

// rights returns the rights of a user, or nil if the user is not restricted.
func (b *builder) rights(name string, u cluster.User) *plan.Rights {
	r := &plan.Rights{User: name, ReadOnly: u.ReadOnly, NoDDL: u.DDL != nil && !*u.DDL}
	for _, database := range u.Databases {
		if r.Databases == nil {
			r.Databases = map[string]bool{}
		}
		r.Databases[database] = true
	}
	for _, text := range u.Tables {
		if r.Tables == nil {
			r.Tables = map[catalog.TableName]bool{}
		}
		if table, err := catalog.ParseTableName(text); err == nil { // the declaration is valid
			r.Tables[table] = true
		}
	}
	if reflect.DeepEqual(r, &plan.Rights{User: name}) {
		return nil
	}
	if b.last != nil {
		if before := b.last.snapshot.Accounts[name]; before != nil && before.Rights != nil {
			r.ID = before.Rights.ID
			if reflect.DeepEqual(r, before.Rights) {
				return before.Rights
			}
		}
	}
	b.rightsKnown++
	r.ID = b.rightsKnown
	return r
}
