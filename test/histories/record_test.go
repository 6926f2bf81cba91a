package histories

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

// Kinds of operations on a row.
type kind uint8

const (
	read kind = iota
	write
	insert
	remove
)

// operation is one action of a client on one row, or one result that it received.
type operation struct {
	client     int
	row        int64
	kind       kind
	value      int64 // the value that was written or read
	found      bool  // of a read: a row was found; of a change: a row was changed
	unknown    bool  // whether the change happened
	call, ends int64 // nanoseconds since the beginning
}

// never is the end of an operation whose end is unknown.
const never = math.MaxInt64

// record contains the operations of all clients.
type record struct {
	began time.Time

	mu        sync.Mutex
	registers []operation
	items     []operation
	seats     []operation
	tickets   map[int64]ticket // by their values
	created   map[int64]int64  // items by their tags: the ID, or 0 while it is unknown
	transfers map[int64]outcome
	errors    map[failure]int
	wrong     []string // answers that no server would give
	holding   []span   // statements, for how long they took
	statement int
}

// span is a statement on a row of an owner.
type span struct {
	uid        int64
	call, ends int64
}

func newRecord() *record {
	return &record{began: time.Now(), created: map[int64]int64{}, tickets: map[int64]ticket{}, transfers: map[int64]outcome{}, errors: map[failure]int{}}
}

func (r *record) now() int64 { return int64(time.Since(r.began)) }

func (r *record) register(ops ...operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.registers = append(r.registers, ops...)
}

func (r *record) item(op operation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items = append(r.items, op)
}

func (r *record) refute(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = append(r.wrong, what)
}

// failure is an error that a client received from a process.
type failure struct {
	addr string
	code uint16 // 0: the connection broke
	text string
}

// took notes a statement by way of a process, and how it ended.
func (r *record) took(addr string, s span, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.statement++
	r.holding = append(r.holding, s)
	if err != nil {
		f := failureOf(addr, err)
		if f.code == 0 { // the connection was lost; the time may show the cause
			f.text += fmt.Sprintf(", after %.0f s", time.Duration(s.ends-s.call).Seconds())
		}
		r.errors[f]++
	}
}

// digits matches the parts in which equal errors differ.
var digits = regexp.MustCompile(`[0-9]{5,}|[0-9.]+(ms|µs|s\b)`)

func failureOf(addr string, err error) failure {
	text := err.Error()
	f := failure{addr: addr, text: digits.ReplaceAllString(text[:min(len(text), 300)], "#")}
	if refused, ok := errors.AsType[*mysql.MySQLError](err); ok {
		f.code = refused.Number
	}
	return f
}
