package link

import (
	"crypto/tls"
	"fmt"
	"strings"
	"time"
)

// Server is a server's address and the credentials for it.
type Server struct {
	Addr           string // host:port
	User, Password string
	TLS            *tls.Config // nil for no TLS
}

// dialPatience bounds a login, and each of its setup statements.
const dialPatience = 10 * time.Second

// Flavor is the kind of a server, as needed for moving rows.
type Flavor string

const (
	MariaDB Flavor = "mariadb"
	MySQL   Flavor = "mysql"
)

// Version is a server's version, comparable as a number: 10.11.6 is 101106.
type Version struct {
	Flavor Flavor
	Number int
	Text   string
}

// AtLeast reports whether the version is at least major.minor.patch.
func (v Version) AtLeast(major, minor, patch int) bool {
	return v.Number >= major*10000+minor*100+patch
}

func (v Version) String() string { return v.Text }

func parseVersion(text string) (Version, error) {
	v := Version{Flavor: MySQL, Text: text}
	if strings.Contains(strings.ToLower(text), "mariadb") {
		v.Flavor = MariaDB
		text = strings.TrimPrefix(text, "5.5.5-") // MariaDB's prefix for old replicas
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(text, "%d.%d.%d", &major, &minor, &patch); err != nil {
		return v, fmt.Errorf("version %q: %w", text, err)
	}
	v.Number = major*10000 + minor*100 + patch
	return v, nil
}
