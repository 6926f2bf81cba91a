package histories

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// Tickets refer to seats by a foreign key. A server deletes the tickets of a seat when a client deletes or replaces it, and MariaDB does
// not log that. An ID of a seat is used once.
const ticketTable = "CREATE TABLE shop.ticket (ticket_id BIGINT NOT NULL PRIMARY KEY, uid BIGINT NOT NULL, seat_id BIGINT NOT NULL, value BIGINT NOT NULL," +
	" KEY (uid, seat_id), FOREIGN KEY (uid, seat_id) REFERENCES seat (uid, seat_id) ON DELETE CASCADE)"

const ticketDeclaration = "  shop.ticket: {kind: sharded, owner: uid, id: {column: ticket_id, layout: int64}}\n"

// ticket is a row that a client inserted.
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
	_, _, _, err = s.contend(uid, "INSERT INTO ticket (uid, seat_id, value) VALUES (?, ?, ?)", uid, id, value)
	e, refused := errors.AsType[*mysql.MySQLError](err)
	switch {
	case refused && e.Number == noParent:
	case err == nil || !s.settled(err):
		s.sell(value, ticket{seat: id, unknown: err != nil})
	}
}

func (r *record) sell(value int64, t ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tickets[value] = t
}

// checkTickets: the tickets of a seat's row are there as long as the row is, and no longer.
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
	for value, one := range r.tickets {
		if n := seen[value]; n > 1 || n == 0 && standing[one.seat] && !one.unknown {
			wrong = append(wrong, fmt.Sprintf("ticket %d of the seat %d is there %d times", value, one.seat, n))
		}
	}
	return wrong
}
