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

// server is one of a shard's, over one connection of the account that changes roles.
// The connection is never made anew: who was passed over finds it ended.
type server struct {
	addr    string
	mariadb bool
	conn    *backend.Conn
	pool    *backend.Pool
	account account // that others follow it by
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
	if err := s.exec(ctx, "SET SESSION sql_mode = ''"); err != nil { // for the quoting of passwords
		s.close(context.WithoutCancel(ctx))
		return nil, err
	}
	return s, nil
}

func (s *server) close(ctx context.Context) {
	s.pool.Discard(s.conn)
	_ = s.pool.Close(ctx) // nothing is under way there
}

func (s *server) exec(ctx context.Context, statements ...string) error {
	for _, sql := range statements {
		if _, err := s.conn.Own().Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %s: %w", s.addr, strings.Fields(sql)[0]+" "+strings.Fields(sql)[1], err)
		}
	}
	return nil
}

// rows are the answer, each by the names of its columns in small letters.
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

// one is the one value of an answer; empty is none.
func (s *server) one(ctx context.Context, sql string) (string, error) {
	answer, err := s.conn.Own().Query(ctx, sql)
	if err != nil || len(answer.Rows) == 0 {
		return "", err
	}
	return string(answer.Rows[0][0]), nil
}

// kill has the server end the connections of an account but this one, and those over which servers follow each other, or are cloned.
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

// endOthers is kill that returns when they are gone, and what they did with them.
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

// code is a server's of its error; 0: it is none of a server's.
func code(err error) uint16 {
	if e, refused := errors.AsType[*backend.ServerError](err); refused {
		return e.Code
	}
	return 0
}

// setReadOnly has the server refuse to write for everybody, or take writes.
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

// position is all that the server has.
func (s *server) position(ctx context.Context) (string, error) {
	if s.mariadb {
		return s.one(ctx, "SELECT @@GLOBAL.gtid_binlog_pos")
	}
	return s.one(ctx, "SELECT @@GLOBAL.gtid_executed")
}

// has waits until the server has applied a position, for as long as ctx lasts.
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
		return fmt.Errorf("%s: wait for what the primary has: %w", s.addr, err)
	case said != "0":
		return fmt.Errorf("%s does not have all that the primary has within %v", s.addr, wait.Round(10*time.Millisecond))
	}
	return nil
}

// stopFollowing keeps what it follows, so that it can go on.
func (s *server) stopFollowing(ctx context.Context) error { return s.exec(ctx, "STOP REPLICA") }

// follow has the server follow another one from all that it has.
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
	if err := s.stopFollowing(ctx); err != nil { // what it applies until then is part of the position
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

// text is a literal with the sql_mode of the connection: these statements take no other form.
func text(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`).Replace(s) + "'"
}
