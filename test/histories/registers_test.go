package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

// write sets a register to a new value.
func (s *talk) write() {
	uid, value := s.random.Int64N(registers), s.values.Add(1)
	op := operation{client: s.number, row: uid, kind: write, value: value, found: true}
	if s.world.hot == nil && s.random.IntN(3) == 0 {
		s.overwrite(op)
		return
	}
	where, key := s.written("register", uid)
	query := "UPDATE register SET value = ? WHERE " + where
	var result sql.Result
	var err error
	if s.set == nil && s.random.IntN(4) == 0 {
		s.set, _ = s.conn.PrepareContext(context.Background(), query) // the condition is the same for every row
	}
	if s.set != nil {
		op.call = s.now()
		result, err = s.set.Exec(value, key)
		op.ends = s.now()
		s.took(s.addr, span{uid, op.call, op.ends}, err)
	} else {
		result, op.call, op.ends, err = s.exec(uid, query, value, key)
	}
	switch {
	case err == nil:
		if n, _ := result.RowsAffected(); n != 1 {
			s.refute(fmt.Sprintf("register %d: an update found %d rows", uid, n))
		}
	case s.settled(err):
		return
	default:
		op.unknown, op.ends = true, never
	}
	s.register(op)
}

// overwrite writes a register by statements that insert it.
func (s *talk) overwrite(op operation) {
	query := "REPLACE INTO register (uid, value) VALUES (?, ?)"
	if s.random.IntN(2) == 0 {
		query = "INSERT INTO register (uid, value) VALUES (?, ?) ON DUPLICATE KEY UPDATE value = VALUES(value)"
	}
	var err error
	_, op.call, op.ends, err = s.exec(op.row, query, op.row, op.value)
	switch {
	case err == nil:
	case s.settled(err):
		return
	default:
		op.unknown, op.ends = true, never
	}
	s.register(op)
}

func (s *talk) read() {
	uid := s.random.Int64N(registers)
	query := "SELECT " + s.numbered() + ", value FROM register WHERE " + s.byOwner()
	var list [][2]int64
	var call, ends int64
	var err error
	if s.get == nil && s.random.IntN(4) == 0 {
		s.get, _ = s.conn.PrepareContext(context.Background(), query)
	}
	if s.get != nil {
		call = s.now()
		var rows *sql.Rows
		if rows, err = s.get.Query(uid); err == nil {
			list, err = pairs(rows)
		}
		ends = s.now()
		s.took(s.addr, span{uid, call, ends}, err)
		if err != nil {
			s.settled(err)
		}
	} else {
		where, key := s.keyed("register", uid)
		list, call, ends, err = s.ask(uid, "SELECT "+s.numbered()+", value FROM register WHERE "+where, key)
	}
	switch {
	case err != nil:
	case len(list) != 1:
		s.refute(fmt.Sprintf("register %d: a read found %d rows", uid, len(list)))
	default:
		s.register(operation{client: s.number, row: uid, kind: read, value: list[0][1], found: true, call: call, ends: ends})
	}
}

// count counts the rows on all shards. Registers and accounts are never inserted or deleted, so the number is fixed.
func (s *talk) count() {
	table, want := "register", int64(registers)
	if s.random.IntN(2) == 0 {
		table, want = "account", accounts
	}
	list, _, _, err := s.ask(-1, "SELECT COUNT(*), COUNT(*) FROM "+table+s.perhapsOwned())
	if err == nil && (len(list) != 1 || list[0][0] != want) {
		s.refute(fmt.Sprintf("%d rows of %s are counted: %v", want, table, list))
	}
}

// glance reads some registers in a transaction. Each must have a value that it had at some time since the
// transaction began, wherever it was.
func (s *talk) glance() {
	began := s.now()
	if _, _, _, err := s.exec(-1, "BEGIN"); err != nil {
		s.settled(err)
		return
	}
	defer s.rollBack()
	for range 3 {
		uid := s.random.Int64N(registers)
		where, key := s.keyed("register", uid)
		list, ends, err := s.glimpse(uid, "SELECT "+s.numbered()+", value FROM register WHERE "+where, key)
		switch {
		case err != nil:
			return
		case len(list) != 1:
			s.refute(fmt.Sprintf("register %d: a read in a transaction found %d rows", uid, len(list)))
		default:
			s.register(operation{client: s.number, row: uid, kind: read, value: list[0][1], found: true, call: began, ends: ends})
		}
		pause(context.Background(), time.Duration(s.random.Int64N(int64(glancing))))
	}
}

// glancing is the longest time between two reads of a transaction. A step can begin and end within it.
const glancing = 30 * time.Millisecond

// glimpse is like ask in a transaction. The transaction may be rolled back because rows that it would read have
// moved to a shard of which it has an older snapshot.
func (s *talk) glimpse(uid int64, query string, args ...any) (list [][2]int64, ends int64, err error) {
	call := s.now()
	rows, err := s.conn.QueryContext(context.Background(), query, args...)
	if err == nil {
		list, err = pairs(rows)
	}
	ends = s.now()
	if e, is := errors.AsType[*mysql.MySQLError](err); is && e.Number == 1213 {
		s.begunAgain.Add(1)
		return nil, ends, err
	}
	s.took(s.addr, span{uid, call, ends}, err)
	if err != nil {
		s.settled(err)
	}
	return list, ends, err
}

// list reads all registers in one query. Each was read at some time during the query.
func (s *talk) list() {
	list, call, ends, err := s.ask(-1, s.listing())
	if err != nil {
		return
	}
	seen := map[int64]bool{}
	ops := make([]operation, 0, len(list))
	for _, row := range list {
		if seen[row[0]] {
			s.refute(fmt.Sprintf("register %d is there twice", row[0]))
		}
		seen[row[0]] = true
		ops = append(ops, operation{client: s.number, row: row[0], kind: read, value: row[1], found: true, call: call, ends: ends})
	}
	if len(seen) != registers {
		s.refute(fmt.Sprintf("%d registers of %d are listed", len(seen), registers))
	}
	s.register(ops...)
}
