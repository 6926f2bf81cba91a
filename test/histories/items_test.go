package histories

import (
	"fmt"
	"math/rand/v2"
	"sync"
)

// items are the items that clients know, and the bounds of their number.
type items struct {
	mu    sync.Mutex
	known []item
	// Inserted and deleted: for sure, and perhaps.
	inserted, mayInsert, deleted, mayDelete int64
}

type item struct{ id, uid int64 }

// among is the number of the newest items that clients use. They leave the others alone.
const among = 100

// any returns one of the newest items. Some of them are deleted already.
func (i *items) any(random *rand.Rand) (item, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.known) == 0 {
		return item{}, false
	}
	first := max(0, len(i.known)-among)
	return i.known[first+random.IntN(len(i.known)-first)], true
}

func (i *items) add(to *int64, n int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	*to += n
}

// bounds returns how many items were certainly, and how many perhaps, inserted and deleted.
func (i *items) bounds() (sure, perhaps [2]int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return [2]int64{i.inserted, i.deleted}, [2]int64{i.mayInsert, i.mayDelete}
}

// insert makes an item whose ID the proxy makes.
func (s *talk) insert() {
	uid, tag := s.buyer(), s.values.Add(1)
	s.mu.Lock()
	s.created[tag] = 0
	s.mu.Unlock()
	s.pool.add(&s.pool.mayInsert, 1)
	result, call, ends, err := s.exec(uid, "INSERT INTO item (uid, value, tag) VALUES (?, ?, ?)", uid, tag, tag)
	if err != nil {
		if s.settled(err) {
			s.mu.Lock()
			s.created[tag] = -1
			s.mu.Unlock()
			s.pool.add(&s.pool.mayInsert, -1)
		}
		return
	}
	id, _ := result.LastInsertId()
	s.mu.Lock()
	s.created[tag] = id
	s.mu.Unlock()
	s.item(operation{client: s.number, row: id, kind: insert, value: tag, found: true, call: call, ends: ends})
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.inserted++
	s.pool.known = append(s.pool.known, item{id, uid})
}

// update changes an item by its ID.
func (s *talk) update() {
	i, ok := s.pool.any(s.random)
	if !ok {
		return
	}
	value := s.values.Add(1)
	s.change(operation{kind: write, value: value}, i, "UPDATE item SET value = ? WHERE item_id = ?", value, i.id)
}

func (s *talk) remove() {
	i, ok := s.pool.any(s.random)
	if !ok {
		return
	}
	s.pool.add(&s.pool.mayDelete, 1)
	switch sure, happened := s.change(operation{kind: remove}, i, "DELETE FROM item WHERE item_id = ?", i.id); {
	case sure && happened:
		s.pool.add(&s.pool.deleted, 1)
	case sure:
		s.pool.add(&s.pool.mayDelete, -1)
	}
}

// change runs a change of a row. It returns whether the effect is known, and whether the row was changed.
func (s *talk) change(op operation, i item, query string, args ...any) (sure, happened bool) {
	result, call, ends, err := s.exec(i.uid, query, args...)
	op.client, op.row, op.call, op.ends = s.number, i.id, call, ends
	switch {
	case err == nil:
		n, _ := result.RowsAffected()
		op.found = n > 0
		if n > 1 {
			s.refute(fmt.Sprintf("item %d: %d rows were changed", i.id, n))
		}
	case s.settled(err):
		return true, false
	default:
		op.unknown, op.ends = true, never
	}
	s.item(op)
	return err == nil, op.found
}

// find reads an item by its ID or among its owner's.
func (s *talk) find() {
	i, ok := s.pool.any(s.random)
	if !ok {
		return
	}
	query, key := "SELECT item_id, value FROM item WHERE item_id = ?", i.id
	if s.random.IntN(2) == 0 {
		query, key = "SELECT item_id, value FROM item WHERE uid = ?", i.uid
	}
	list, call, ends, err := s.ask(i.uid, query, key)
	if err != nil {
		return
	}
	op := operation{client: s.number, row: i.id, kind: read, call: call, ends: ends}
	seen := map[int64]bool{}
	for _, row := range list {
		if seen[row[0]] {
			s.refute(fmt.Sprintf("item %d is there twice", row[0]))
		}
		seen[row[0]] = true
		if row[0] == i.id {
			op.found, op.value = true, row[1]
		}
	}
	s.item(op)
}

// countItems counts the items on all shards.
func (s *talk) countItems() {
	sure, _ := s.pool.bounds()
	list, _, _, err := s.ask(-1, "SELECT COUNT(*), COUNT(item_id) FROM item")
	if err != nil {
		return
	}
	_, perhaps := s.pool.bounds()
	least, highest := sure[0]-perhaps[1], perhaps[0]-sure[1]
	if n := list[0][0]; n < least || n > highest {
		s.refute(fmt.Sprintf("%d items are counted, and there are %d to %d", n, least, highest))
	}
}
