package histories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Seats are rows with a unique key (uid, number) that clients replace: each REPLACE inserts a row with another
// ID in place of the row with the same key. Versions increase and decrease.
const (
	seats        = 20
	seatsOf      = 4 // of one owner
	seatVersions = 10
)

const seatTable = "CREATE TABLE shop.seat (seat_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, number BIGINT NOT NULL, value BIGINT NOT NULL," +
	" version INT NOT NULL, UNIQUE KEY (uid, number), UNIQUE KEY (uid, seat_id))"

const seatDeclaration = "  shop.seat: {kind: sharded, owner: uid, id: {column: seat_id, layout: int64}, version: version}\n"

// seatKey returns the unique key of a seat.
func seatKey(seat int64) (uid, number int64) { return seat / seatsOf, seat % seatsOf }

// fillSeats returns the statement that makes them.
func fillSeats() string {
	s := "INSERT INTO seat (uid, number, value, version) VALUES "
	for seat := range int64(seats) {
		uid, number := seatKey(seat)
		if seat > 0 {
			s += ", "
		}
		s += fmt.Sprintf("(%d, %d, 0, %d)", uid, number, seatVersions)
	}
	return s
}

// seat writes or reads a seat.
func (s *talk) seat() {
	switch s.random.IntN(8) {
	case 0, 1:
		s.readSeat()
		return
	case 2:
		s.buy()
		return
	}
	seat, value := s.random.Int64N(seats), s.values.Add(1)
	uid, number := seatKey(seat)
	op := operation{client: s.number, row: seat, kind: write, value: value, found: true}
	version := s.random.IntN(seatVersions)
	var err error
	switch s.random.IntN(5) {
	case 0:
		_, op.call, op.ends, err = s.contend(uid, "REPLACE INTO seat (uid, number, value, version) VALUES (?, ?, ?, ?)", uid, number, value, version)
	case 1:
		_, op.call, op.ends, err = s.contend(uid, "INSERT INTO seat (uid, number, value, version) VALUES (?, ?, ?, ?)"+
			" ON DUPLICATE KEY UPDATE value = VALUES(value), version = VALUES(version)", uid, number, value, version)
	case 2:
		_, op.call, op.ends, err = s.contend(uid, "UPDATE seat SET value = ?, version = version - 1 WHERE uid = ? AND number = ?", value, uid, number)
	case 3:
		_, op.call, op.ends, err = s.contend(uid, "UPDATE seat SET value = ?, version = ? WHERE uid = ? AND number = ?", value, version, uid, number)
	default:
		op.call = s.now()
		err = s.replaceSeat(uid, number, value, version)
		op.ends = s.now()
	}
	switch {
	case err == nil:
	case s.settled(err):
		return
	default:
		op.unknown, op.ends = true, never
	}
	s.sit(op)
}

// contend is like exec, for a statement that may fail because other clients replace rows at the same time. A
// single server fails in the same way: with a deadlock (1213) because of locks on neighbouring keys, or because
// the parent row is gone.
func (s *talk) contend(uid int64, query string, args ...any) (result sql.Result, call, ends int64, err error) {
	return s.allowing([]uint16{1213, noParent}, uid, query, args...)
}

// allowing is like exec, for a statement that may fail with some errors.
func (s *talk) allowing(errs []uint16, uid int64, query string, args ...any) (result sql.Result, call, ends int64, err error) {
	call = s.now()
	result, err = s.conn.ExecContext(context.Background(), query, args...)
	ends = s.now()
	told := err
	if e, is := errors.AsType[*mysql.MySQLError](err); is && slices.Contains(errs, e.Number) {
		told = nil
	}
	s.took(s.addr, span{uid, call, ends}, told)
	return result, call, ends, err
}

// replaceSeat deletes a seat and inserts it again, in one transaction. After an error that the server reports,
// nothing of it happened.
func (s *talk) replaceSeat(uid, number, value int64, version int) error {
	if _, _, _, err := s.exec(-1, "BEGIN"); err != nil {
		return err
	}
	result, _, _, err := s.contend(uid, "DELETE FROM seat WHERE uid = ? AND number = ?", uid, number)
	if err == nil {
		// A DELETE that waits for another one of the same key continues after that key in the index. If the
		// other client has inserted a row with a lower ID, from another segment, it finds nothing, and then the
		// key is taken.
		errs := []uint16{1213, noParent}
		if n, err := result.RowsAffected(); err == nil && n == 0 {
			errs = append(errs, 1062)
		}
		_, _, _, err = s.allowing(errs, uid, "INSERT INTO seat (uid, number, value, version) VALUES (?, ?, ?, ?)", uid, number, value, version)
	}
	if err == nil {
		_, _, _, err = s.contend(uid, "COMMIT")
		return err
	}
	s.rollBack()
	return err
}

func (s *talk) readSeat() {
	seat := s.random.Int64N(seats)
	uid, number := seatKey(seat)
	list, call, ends, err := s.ask(uid, "SELECT number, value FROM seat WHERE uid = ? AND number = ?", uid, number)
	switch {
	case err != nil:
	case len(list) != 1:
		s.refute(fmt.Sprintf("seat %d: a read found %d rows", seat, len(list)))
	default:
		s.sit(operation{client: s.number, row: seat, kind: read, value: list[0][1], found: true, call: call, ends: ends})
	}
}

func (r *record) sit(op operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seats = append(r.seats, op)
}

// checkSeats compares the results that clients received for the seats with the rows at the end.
func (w *world) checkSeats(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	if w.hot != nil {
		return nil
	}
	end, seen := r.now(), map[int64]int{}
	ops := slices.Clone(r.seats)
	w.rows(t, "uid, seat.number, value, 0", "seat", func(row [4]int64) {
		seat := row[0]*seatsOf + row[1]
		seen[seat]++
		ops = append(ops, operation{client: theEnd, row: seat, kind: read, found: true, value: row[2], call: end, ends: end + 1})
	})
	for seat := range int64(seats) {
		if seen[seat] != 1 {
			wrong = append(wrong, fmt.Sprintf("seat %d is there %d times at the end", seat, seen[seat]))
		}
	}
	return append(wrong, linearizable(ops, state{there: true})...)
}

// nothingRecorded checks that, without faults and without writes past the proxies, no row was refused or
// overwritten on the two shards of the move.
func (w *world) nothingRecorded(t *testing.T) {
	t.Helper()
	for _, shard := range []int{0, 2} {
		db := w.Shards[shard].DB(t, "locus")
		var n int
		var first sql.NullString
		err := db.QueryRow("SELECT COUNT(*), MIN(CONCAT_WS('; ', table_name, reason, incoming, standing)) FROM move_conflict").Scan(&n, &first)
		if err != nil || n > 0 {
			t.Errorf("s%d: %d rows are recorded, such as %s (%v)", shard, n, first.String, err)
		}
	}
}
