package histories

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
)

// Tickets refer to seats by a foreign key, and stubs refer to tickets. A server deletes the tickets of a seat and their stubs when a client deletes
// or replaces the seat, and MariaDB does not log that. An ID of a seat is used once.
const ticketTable = "CREATE TABLE shop.ticket (ticket_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, seat_id BIGINT NOT NULL, value BIGINT NOT NULL," +
	" KEY (uid, seat_id), UNIQUE KEY (uid, ticket_id), FOREIGN KEY (uid, seat_id) REFERENCES seat (uid, seat_id) ON DELETE CASCADE)"

const stubTable = "CREATE TABLE shop.stub (stub_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, ticket_id BIGINT NOT NULL, value BIGINT NOT NULL," +
	" KEY (uid, ticket_id), FOREIGN KEY (uid, ticket_id) REFERENCES ticket (uid, ticket_id) ON DELETE CASCADE)"

const ticketDeclaration = "  shop.ticket: {kind: sharded, owner: uid, id: {column: ticket_id, layout: int64}}\n" +
	"  shop.stub: {kind: sharded, owner: uid, id: {column: stub_id, layout: int64}}\n"

// ticket is a row that a client inserted, with a stub of the same value, in one transaction.
type ticket struct {
	seat    int64 // the seat's ID
	unknown bool  // whether the insertion happened
}

const noParent = 1452

// buy inserts a ticket of the row that a seat has now, unless another client replaces that first.
func (s *talk) buy() {
	seat := s.random.Int64N(seats)
	uid, number := seatKey(seat)
	list, _, _, err := s.ask(uid, "SELECT seat_id, number FROM seat WHERE uid = ? AND number = ?", uid, number)
	switch {
	case err != nil:
		return
	case len(list) != 1:
		s.refute(fmt.Sprintf("seat %d: a read found %d rows", seat, len(list)))
		return
	}
	id, value := list[0][0], s.values.Add(1)
	err = s.sellBoth(uid, id, value)
	e, refused := errors.AsType[*mysql.MySQLError](err)
	switch {
	case refused && e.Number == noParent:
	case err == nil || !s.settled(err):
		s.sell(value, ticket{seat: id, unknown: err != nil})
	}
}

// sellBoth inserts a ticket and its stub. After an error that the server reports, nothing of it happened.
func (s *talk) sellBoth(uid, seat, value int64) error {
	if _, _, _, err := s.exec(-1, "BEGIN"); err != nil {
		return err
	}
	_, _, _, err := s.contend(uid, "INSERT INTO ticket (uid, seat_id, value) VALUES (?, ?, ?)", uid, seat, value)
	if err == nil {
		_, _, _, err = s.contend(uid, "INSERT INTO stub (uid, ticket_id, value) VALUES (?, LAST_INSERT_ID(), ?)", uid, value)
	}
	if err == nil {
		_, _, _, err = s.contend(uid, "COMMIT")
		return err
	}
	s.rollBack()
	return err
}

func (r *record) sell(value int64, t ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickets[value] = t
}

// checkTickets checks that the tickets of a seat's row, and their stubs, exist exactly as long as the row.
func (w *world) checkTickets(t *testing.T, r *record) (wrong []string) {
	t.Helper()
	if w.hot != nil {
		return nil
	}
	standing, seen := map[int64]bool{}, map[int64]int{}
	w.rows(t, "seat_id, 0, 0, 0", "seat", func(row [4]int64) { standing[row[0]] = true })
	w.rows(t, "seat_id, value, 0, 0", "ticket", func(row [4]int64) {
		seen[row[1]]++
		if !standing[row[0]] {
			wrong = append(wrong, fmt.Sprintf("ticket %d is there, and its seat %d is gone", row[1], row[0]))
		}
		if r.tickets[row[1]].seat != row[0] {
			wrong = append(wrong, fmt.Sprintf("ticket %d is of the seat %d, and nobody inserted that", row[1], row[0]))
		}
	})
	stubs := map[int64]int{}
	w.rows(t, "value, 0, 0, 0", "stub", func(row [4]int64) { stubs[row[0]]++ })
	for value := range stubs {
		if seen[value] == 0 && w.Shards[0].Engine() == servers.MariaDB { // REPLACE of MySQL 9.7 cascades over one level only
			wrong = append(wrong, fmt.Sprintf("the stub of ticket %d is there, and the ticket is gone", value))
		}
	}
	for value := range seen {
		if n := stubs[value]; n != 1 {
			wrong = append(wrong, fmt.Sprintf("ticket %d has %d stubs", value, n))
		}
	}
	for value, one := range r.tickets {
		if n := seen[value]; n > 1 || n == 0 && standing[one.seat] && !one.unknown {
			wrong = append(wrong, fmt.Sprintf("ticket %d of the seat %d is there %d times", value, one.seat, n))
		}
	}
	return wrong
}
