package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/strict"
	"locus/proxy/handshake"
	"locus/router/cluster"
)

// Password returns the new password of a user. It is called once nothing else of the request is refused, so that a person is not asked
// in vain.
type Password func() (string, error)

// NoPassword takes the place of a password in a change that is only planned. Such a change can't be written.
func NoPassword() (string, error) { return "", errNoPassword }

var errNoPassword = errors.New("no password was given")

// AddUser requests a user of the proxies.
type AddUser struct {
	Name string
	User cluster.User // its rights and limits, and the name of its secret
	// Password is used if the user has no secret.
	Password Password
	reasonless
}

// SetUser requests that fields of a user get other values.
type SetUser struct {
	Name   string
	Fields map[string]string // field names and values as in cluster.yaml; an empty text resets a field
	reasonless
}

// SetPassword requests another password of a user.
type SetPassword struct {
	Name     string
	Password Password
	// ReplaceSecret accepts that the password is no longer a secret of the proxies.
	ReplaceSecret bool
	reasonless
}

// RemoveUser requests that a user can't log in any more, and that its sessions end.
type RemoveUser struct {
	Name string
	reasonless
}

// reasonless is embedded in the requests that concern only users. They leave the route map unchanged and query no shard.
type reasonless struct{}

func (reasonless) why() string { return "" }

func (reasonless) rules() rules { return rules{unchecked: true} }

func (r AddUser) next(_ context.Context, o *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	return withUsers(current, func(users map[string]cluster.User) (err error) {
		if _, is := users[r.Name]; is {
			return fmt.Errorf("user %s is declared: locus user passwd %s changes the password, and locus user set %s the limits", r.Name, r.Name, r.Name)
		}
		user := r.User
		if user.Secret == "" {
			if user.AuthenticationString, err = o.hash(r.Password); err != nil {
				return err
			}
		}
		users[r.Name] = user
		return nil
	})
}

func (r SetUser) next(_ context.Context, _ *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	return withUsers(current, func(users map[string]cluster.User) error {
		user, err := userOf(users, r.Name)
		if err != nil {
			return err
		}
		for _, field := range slices.Sorted(maps.Keys(r.Fields)) {
			if err := user.Set(field, r.Fields[field]); err != nil {
				return fmt.Errorf("user %s: %w", r.Name, err)
			}
		}
		users[r.Name] = user
		return nil
	})
}

func (r SetPassword) next(_ context.Context, o *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	return withUsers(current, func(users map[string]cluster.User) error {
		user, err := userOf(users, r.Name)
		if err != nil {
			return err
		}
		if user.Secret != "" && !r.ReplaceSecret {
			return fmt.Errorf("the password of %s is the secret %s: change it in secrets.dir of every proxy (SIGHUP makes a proxy read it), or use --replace-secret", r.Name, user.Secret)
		}
		user.Secret = ""
		if user.AuthenticationString, err = o.hash(r.Password); err != nil {
			return err
		}
		users[r.Name] = user
		return nil
	})
}

func (r RemoveUser) next(_ context.Context, _ *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	return withUsers(current, func(users map[string]cluster.User) error {
		_, err := userOf(users, r.Name)
		delete(users, r.Name)
		return err
	})
}

// withUsers returns a copy of the cluster with changed users.
func withUsers(current *cluster.Cluster, change func(map[string]cluster.User) error) (*cluster.Cluster, error) {
	if current == nil {
		return nil, cluster.ErrNotDeclared
	}
	next := *current
	next.Users = map[string]cluster.User{}
	maps.Copy(next.Users, current.Users)
	if err := change(next.Users); err != nil {
		return nil, err
	}
	return &next, next.Validate()
}

func userOf(users map[string]cluster.User, name string) (cluster.User, error) {
	user, is := users[name]
	if !is {
		return user, fmt.Errorf("user %s is not declared%s", name, strict.DidYouMean(name, slices.Sorted(maps.Keys(users))))
	}
	return user, nil
}

// placeholder has the form of an authentication_string of caching_sha2_password.
var placeholder = "$A$005$" + strings.Repeat(".", 63)

// hash returns the authentication_string of a password, or the placeholder for NoPassword.
func (o *Ops) hash(password Password) (string, error) {
	text, err := password()
	switch {
	case errors.Is(err, errNoPassword):
		return placeholder, nil
	case err != nil:
		return "", err
	}
	return handshake.HashPassword(text, o.random)
}

// placeholders reports whether a user has a placeholder as its password.
func placeholders(c *cluster.Cluster) bool {
	for _, u := range c.Users {
		if u.AuthenticationString == placeholder {
			return true
		}
	}
	return false
}
