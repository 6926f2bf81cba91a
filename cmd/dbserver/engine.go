package dbserver

import "fmt"

// Engine is a kind of database server.
type Engine string

const (
	MariaDB Engine = "mariadb"
	MySQL   Engine = "mysql"
)

// Engines returns all supported engines, the preferred one first.
func Engines() []Engine { return []Engine{MariaDB, MySQL} }

// ParseEngine parses the name of an engine.
func ParseEngine(name string) (Engine, error) {
	for _, engine := range Engines() {
		if name == string(engine) {
			return engine, nil
		}
	}
	return "", fmt.Errorf("engine %q is unknown: choose %s or %s", name, MariaDB, MySQL)
}
