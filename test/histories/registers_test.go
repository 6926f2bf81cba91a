package histories

import (
	"context"
	"database/sql"
	"fmt"
)

// write gives a register a value that it never had.
func (s *talk) write() {
	uid, value := s.random.Int64N(registers), s.values.Add(1)
	op := operation{client: s.number, row: uid, kind: write, value: value, found: true}
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

// count asks all shards: no register and no account is ever inserted or deleted.
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

// list reads all registers at once: each of them was read some time during that.
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
