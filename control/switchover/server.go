package switchover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"strings"
	"time"

	"locus/proxy/backend"
	"locus/proxy/flavor"
)

// server is one server of a shard, with one connection of the admin account. A broken connection is never
// replaced, so that a process that has lost its lease can't continue.
type server struct {
	addr    string
	mariadb bool
	conn    *backend.Conn
	pool    *backend.Pool
	account account // the account by which other servers replicate from it
}

type account struct {
	user     string
	password func() (string, error)
	tls      bool
}

// dialTime bounds a login.
const dialTime = 3 * time.Second

func dial(ctx context.Context, target backend.Target) (*server, error) {
	pool := backend.NewPool(target, backend.Limits{MaxOpen: 1, ConnectTimeout: dialTime}, slog.New(slog.DiscardHandler))
	conn, err := pool.Borrow(ctx, nil, 0)
	if err != nil {
		return nil, errors.Join(err, pool.Close(ctx))
	}
	s := &server{addr: target.Addr, conn: conn, pool: pool, account: account{target.User, target.Password, target.TLS != nil}}
	s.mariadb = flavor.Of(conn.ServerVersion()) == flavor.MariaDB
	if err := s.exec(ctx, "SET SESSION sql_mode = ''"); err != nil { // this mode makes quoted passwords unambiguous
		s.close(context.WithoutCancel(ctx))
		return nil, err
	}
	return s, nil
}

func (s *server) close(ctx context.Context) {
	s.pool.Discard(s.conn)
	_ = s.pool.Close(ctx) // no statement is running in the pool
}

func (s *server) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.conn.Own().Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %s: %w", s.addr, strings.Fields(sql)[0]+" "+strings.Fields(sql)[1], err)
		}
	}
	return nil
}

// rows runs a query and returns its rows, keyed by lower-case column names.
func (s *server) rows(ctx context.Context, sql string) ([]map[string]string, error) {
	answer, err := s.conn.Own().Query(ctx, sql)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.addr, err)
	}
	list := make([]map[string]string, len(answer.Rows))
	for i, row := range answer.Rows {
		list[i] = make(map[string]string, len(row))
		for j, c := range answer.Columns {
			list[i][strings.ToLower(string(c.Name))] = string(row[j])
		}
	}
	return list, nil
}

// one returns the first value of a query's result, or "" if there is no row.
func (s *server) one(ctx context.Context, sql string) (string, error) {
	answer, err := s.conn.Own().Query(ctx, sql)
	if err != nil || len(answer.Rows) == 0 {
		return "", err
	}
	return string(answer.Rows[0][0]), nil
}

// kill ends all connections of an account, except this one and the connections of replication and clone.
func (s *server) kill(ctx context.Context, user string) (there map[string]bool, err error) {
	there, err = s.connections(ctx, user)
	if err != nil {
		return nil, err
	}
	for id := range there {
		if _, err := s.conn.Own().Exec(ctx, "KILL CONNECTION "+id); err != nil && !gone(err) {
			return nil, fmt.Errorf("%s: end connection %s: %w", s.addr, id, err)
		}
	}
	return there, nil
}

// endOthers calls kill and waits until the connections are gone, including the transactions that they had open.
func (s *server) endOthers(ctx context.Context, user string) error {
	there, err := s.kill(ctx, user)
	if err != nil {
		return err
	}
	for len(there) > 0 {
		now, err := s.connections(ctx, user)
		if err != nil {
			return err
		}
		maps.DeleteFunc(there, func(id string, _ bool) bool { return !now[id] })
		if len(there) == 0 {
			break
		}
		if err := pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("%s: %d connections of %s don't end: %w", s.addr, len(there), user, err)
		}
	}
	return nil
}

func (s *server) connections(ctx context.Context, user string) (map[string]bool, error) {
	rows, err := s.rows(ctx, "SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER = "+backend.Quote(user)+
		" AND COMMAND NOT LIKE 'Binlog Dump%' AND COMMAND <> 'Clone' AND ID <> COALESCE("+rebuilder+", 0) AND ID <> CONNECTION_ID()")
	if err != nil {
		return nil, err
	}
	there := make(map[string]bool, len(rows))
	for _, row := range rows {
		there[row["id"]] = true
	}
	return there, nil
}

func gone(err error) bool { return code(err) == 1094 }

// code returns the error code of a server's error, or 0 for other errors.
func code(err error) uint16 {
	if e, refused := errors.AsType[*backend.ServerError](err); refused {
		return e.Code
	}
	return 0
}

// setReadOnly makes the server read-only for every account, or writable.
func (s *server) setReadOnly(ctx context.Context, readOnly bool) error {
	switch {
	case s.mariadb && readOnly:
		return s.exec(ctx, "SET GLOBAL read_only = ON")
	case s.mariadb:
		return s.exec(ctx, "SET GLOBAL read_only = OFF")
	case readOnly:
		return s.exec(ctx, "SET GLOBAL super_read_only = ON")
	}
	return s.exec(ctx, "SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
}

// position returns the server's GTID position, which covers everything it has.
func (s *server) position(ctx context.Context) (string, error) {
	if s.mariadb {
		return s.one(ctx, "SELECT @@GLOBAL.gtid_binlog_pos")
	}
	return s.one(ctx, "SELECT @@GLOBAL.gtid_executed")
}

// has waits until the server has applied a position, or until ctx ends.
func (s *server) has(ctx context.Context, position string) error {
	wait := dialTime
	if deadline, limited := ctx.Deadline(); limited {
		wait = time.Until(deadline)
	}
	seconds := strconv.FormatFloat(max(wait.Seconds(), 0.01), 'f', 2, 64)
	call := "SELECT MASTER_GTID_WAIT(" + backend.Quote(position) + ", " + seconds + ")"
	if !s.mariadb {
		call = "SELECT WAIT_FOR_EXECUTED_GTID_SET(" + backend.Quote(position) + ", " + seconds + ")"
	}
	switch said, err := s.one(ctx, call); {
	case err != nil:
		return fmt.Errorf("%s: wait for the primary's transactions: %w", s.addr, err)
	case said != "0":
		return fmt.Errorf("%s did not apply the primary's transactions within %v", s.addr, wait.Round(10*time.Millisecond))
	}
	return nil
}

// stopFollowing stops replication and keeps its configuration, so that it can be started again.
func (s *server) stopFollowing(ctx context.Context) error { return s.exec(ctx, "STOP REPLICA") }

// follow makes the server replicate from another one, starting at its own GTID position.
func (s *server) follow(ctx context.Context, source *server) error {
	password, err := source.account.password()
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(source.addr)
	if err != nil {
		return err
	}
	secret := 0
	if source.account.tls {
		secret = 1
	}
	if !s.mariadb {
		return s.exec(ctx, "STOP REPLICA", "RESET REPLICA ALL", fmt.Sprintf(
			"CHANGE REPLICATION SOURCE TO SOURCE_HOST=%s, SOURCE_PORT=%s, SOURCE_USER=%s, SOURCE_PASSWORD=%s, SOURCE_AUTO_POSITION=1, "+
				"SOURCE_SSL=%d, GET_SOURCE_PUBLIC_KEY=%d, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=0",
			text(host), port, text(source.account.user), text(password), secret, 1-secret), "START REPLICA")
	}
	if err := s.stopFollowing(ctx); err != nil { // transactions applied until here are part of the position
		return err
	}
	position, err := s.position(ctx)
	if err != nil {
		return err
	}
	return s.exec(ctx, "RESET REPLICA ALL", "SET GLOBAL gtid_slave_pos = "+backend.Quote(position), fmt.Sprintf(
		"CHANGE MASTER TO MASTER_HOST=%s, MASTER_PORT=%s, MASTER_USER=%s, MASTER_PASSWORD=%s, MASTER_USE_GTID=slave_pos, MASTER_SSL=%d, MASTER_CONNECT_RETRY=1",
		text(host), port, text(source.account.user), text(password), secret), "START REPLICA")
}

// text returns a string literal for the sql_mode of this connection, because these statements accept no other
// form of a string.
func text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(s) + "'"
}
