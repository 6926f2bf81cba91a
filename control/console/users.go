package console

import (
	"cmp"
	"net/http"

	"locus/router/cluster"
)

// usersAnswer is the users of the proxies and their rights. It contains no secrets and no hashes of secrets.
type usersAnswer struct {
	Schema int          `json:"schema"`
	Users  []userAnswer `json:"users"`
}

type userAnswer struct {
	Name string `json:"name"`
	// Login is the source of the password: a secret's name, or authentication_string.
	Login     string   `json:"login"`
	TLS       string   `json:"tls"`
	Databases []string `json:"databases,omitempty"` // both empty if the user may use everything
	Tables    []string `json:"tables,omitempty"`
	Admin     bool     `json:"admin"`
	ReadOnly  bool     `json:"read_only"`
	DDL       bool     `json:"ddl"`
	// Treatment of expensive statements: allow, warn or refuse.
	Scatter       string `json:"scatter"`
	ScatterWrites string `json:"scatter_writes"`
	Unfiltered    string `json:"unfiltered"`
	LargeOffset   string `json:"large_offset"`
	LargeGather   string `json:"large_gather"`
	// Limits. Empty or 0 means the proxy's.
	Connections      int    `json:"max_connections,omitempty"`
	StatementTimeout string `json:"statement_timeout,omitempty"`
	SlowStatement    string `json:"slow_statement,omitempty"`
	Read             string `json:"read,omitempty"`
	// LockedOut is why the user can't log in to some proxy.
	LockedOut string `json:"locked_out,omitempty"`
}

func (c *Console) getUsers(w http.ResponseWriter, r *http.Request) {
	declared := c.options.Proxy.Declared()
	locked := map[string]string{}
	for id, b := range c.looks.see(r.Context()).Now.By {
		for user, why := range b.LockedOut {
			locked[user] = id + ": " + why
		}
	}
	a := usersAnswer{schema, []userAnswer{}}
	for _, name := range declared.UserNames() {
		u := newUser(name, declared.Users[name])
		u.LockedOut = locked[name]
		a.Users = append(a.Users, u)
	}
	writeJSON(w, a)
}

func newUser(name string, u cluster.User) userAnswer {
	guard := func(g, otherwise cluster.Guard) string { return string(cmp.Or(g, otherwise)) }
	a := userAnswer{
		Name: name, Login: "authentication_string", TLS: string(cmp.Or(u.TLS, cluster.TLSOptional)), Databases: u.Databases, Tables: u.Tables,
		Admin: u.Admin, ReadOnly: u.ReadOnly, DDL: u.DDL == nil || *u.DDL,
		Scatter: guard(u.Scatter, cluster.GuardAllow), ScatterWrites: guard(u.ScatterWrites, cluster.GuardRefuse), Unfiltered: guard(u.Unfiltered, cluster.GuardAllow),
		LargeOffset: guard(u.LargeOffset, cluster.GuardAllow), LargeGather: guard(u.LargeGather, cluster.GuardRefuse),
		Connections: u.MaxConnections, StatementTimeout: u.StatementTimeout, SlowStatement: u.SlowStatement, Read: string(u.Read),
	}
	if u.Secret != "" {
		a.Login = "secret " + u.Secret
	}
	return a
}
