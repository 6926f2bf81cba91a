package dbserver

import (
	"context"
	"fmt"
	"strings"
)

// User is an account that may log in from any address.
type User struct {
	Name, Password string
	// Plugin is the authentication plugin. If empty, it is the one that the engine's clients expect:
	// caching_sha2_password for MySQL, mysql_native_password for MariaDB.
	Plugin string
}

// CreateUser creates an account with all privileges, including GRANT OPTION. If the account exists, it gets
// this password and plugin.
func (s *Server) CreateUser(ctx context.Context, user User) error {
	account := quote(user.Name) + "@'%'"
	proof := " IDENTIFIED " + identification(s.Engine(), user)
	err := s.Execute(ctx,
		"CREATE USER IF NOT EXISTS "+account+proof,
		"ALTER USER "+account+proof,
		"GRANT ALL PRIVILEGES ON *.* TO "+account+" WITH GRANT OPTION",
	)
	if err != nil {
		return fmt.Errorf("create user %s: %w", user.Name, err)
	}
	return nil
}

func identification(engine Engine, user User) string {
	if engine == MariaDB {
		return "VIA " + orElse(user.Plugin, "mysql_native_password") + " USING PASSWORD(" + quote(user.Password) + ")"
	}
	return "WITH " + orElse(user.Plugin, "caching_sha2_password") + " BY " + quote(user.Password)
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// quote returns a string literal for the servers' default SQL mode.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
