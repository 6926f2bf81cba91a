package mtr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/servers"
)

// site is a server that cases run on, directly or through a proxy, and its state before the first case.
type site struct {
	server    *servers.Server
	variables map[string]string
}

func newSite(ctx context.Context, server *servers.Server) (*site, error) {
	s := &site{server: server}
	conn, err := server.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	s.variables, err = globals(conn)
	return s, err
}

// kept are databases that belong to the server.
var kept = []string{"information_schema", "performance_schema", "mysql", "sys"}

// clean gives the server the state that a case expects: an empty database test, the objects that the suite's include files
// use, no accounts but root's, and the initial variables.
func (s *site) clean(ctx context.Context) error {
	conn, err := s.server.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Conn.Conn.Close() })() // it knows no contexts
	var run []string
	run = append(run, "SET SESSION sql_mode = '', SESSION foreign_key_checks = 0, NAMES utf8mb4")
	drops, err := s.leftOver(conn)
	if err != nil {
		return err
	}
	run = append(run, drops...)
	run = append(run,
		"CREATE DATABASE test CHARACTER SET "+s.charset(), "CREATE DATABASE mtr CHARACTER SET "+s.charset(),
		"CREATE PROCEDURE mtr.add_suppression(pattern VARCHAR(255)) BEGIN END",
	)
	for _, statement := range run {
		if err := settled(ctx, conn, statement); err != nil {
			return fmt.Errorf("clean: %.200s: %w", statement, err)
		}
	}
	return s.restore(conn)
}

// settled runs a statement. A database can't be dropped while the server still
// removes files of tables that are gone: then it is tried again for as long as ctx
// lasts.
func settled(ctx context.Context, conn *client.Conn, statement string) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		_, err := conn.Execute(statement)
		if e, ok := errors.AsType[*mysql.MyError](err); !ok || e.Code != mysql.ER_DB_DROP_RMDIR {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}

func (s *site) charset() string {
	if s.server.Engine() == servers.MariaDB {
		return "latin1"
	}
	return "utf8mb4"
}

// leftOver returns the statements that remove objects that cases have left.
func (s *site) leftOver(conn *client.Conn) (run []string, err error) {
	databases, err := column(conn, "SELECT schema_name FROM information_schema.schemata")
	if err != nil {
		return nil, err
	}
	for _, name := range databases {
		if !slices.Contains(kept, strings.ToLower(name)) {
			run = append(run, "DROP DATABASE `"+strings.ReplaceAll(name, "`", "``")+"`")
		}
	}
	accounts, err := column(conn, "SELECT IF(host = '', CONCAT('ROLE ', QUOTE(user)), CONCAT('USER ', QUOTE(user), '@', QUOTE(host))) FROM mysql.user "+
		"WHERE user NOT IN ('root', 'locus', 'mariadb.sys', 'mysql.sys', 'mysql.session', 'mysql.infoschema') OR (user = 'root' AND host NOT IN ('localhost', '%'))")
	if err != nil {
		return nil, err
	}
	for _, account := range accounts {
		run = append(run, "DROP "+account)
	}
	return run, nil
}

// restore sets the variables that a case has changed.
func (s *site) restore(conn *client.Conn) error {
	now, err := globals(conn)
	if err != nil {
		return err
	}
	for name, value := range s.variables {
		if now[name] == value || strings.HasPrefix(name, "gtid_") || name == "timestamp" {
			continue
		}
		// As a number or as text; what is read-only changes by itself.
		if _, err := conn.Execute("SET GLOBAL " + name + " = " + value); err != nil {
			_, _ = conn.Execute("SET GLOBAL " + name + " = '" + value + "'")
		}
	}
	return nil
}

func globals(conn *client.Conn) (map[string]string, error) {
	r, err := conn.Execute("SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	defer r.Close()
	values := map[string]string{}
	for _, row := range r.Values {
		values[string(row[0].AsString())] = string(row[1].AsString())
	}
	return values, nil
}

func column(conn *client.Conn, query string) (values []string, err error) {
	r, err := conn.Execute(query)
	if err != nil {
		return nil, fmt.Errorf("%.80s: %w", query, err)
	}
	defer r.Close()
	for _, row := range r.Values {
		values = append(values, string(row[0].AsString()))
	}
	return values, nil
}

// killAll ends all connections. The statements of a case that took too long are still waiting on the server.
func (s *site) killAll(ctx context.Context) error {
	conn, err := s.server.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ids, err := column(conn, "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user NOT IN ('system user', 'event_scheduler')")
	if err != nil {
		return err
	}
	for _, id := range ids {
		_, _ = conn.Execute("KILL " + id) // the connection may have ended meanwhile
	}
	return nil
}
