package dbserver

import (
	"context"
	"fmt"
	"strings"
)

// User is an account that may log in from any address.
type User struct {
	Name, Password string
	// Plugin is how it proves its password; empty is what clients of the engine
	// expect today: caching_sha2_password of MySQL, mysql_native_password of
	// MariaDB.
	Plugin string
}

// CreateUser makes an account with every right, the right to grant included; if
// it is there, its password and plugin become these.
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

// quote makes a string literal in the servers' default SQL mode.
func quote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
