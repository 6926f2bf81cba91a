// Package connectorj runs the JUnit tests of MariaDB Connector/J.
package connectorj
