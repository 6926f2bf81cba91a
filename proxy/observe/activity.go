package observe

import (
	"strings"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router"
)

// activity is the part of a session that other goroutines may read. command is a view of the current packet. Other goroutines copy it under the
// lock, so the end of a command takes the lock too.
type activity struct {
	mu           sync.Mutex
	user         string
	database     string
	pinned       string
	pinnedThread uint32 // the server's ID of the reserved connection to the first shard
	command      []byte // nil between commands
}

func (a *activity) begin(command []byte) {
	a.mu.Lock()
	a.command = command
	a.mu.Unlock()
}

func (a *activity) end() {
	a.mu.Lock()
	a.command = nil
	a.mu.Unlock()
}

func (a *activity) set(change func(*activity)) {
	a.mu.Lock()
	change(a)
	a.mu.Unlock()
}

// Login records the client's user.
func (s *Session) Login(user string) { s.activity.set(func(a *activity) { a.user = user }) }

// User returns the logged-in user. It is safe for concurrent use.
func (s *Session) User() string {
	s.activity.mu.Lock()
	defer s.activity.mu.Unlock()
	return s.activity.user
}

// SetDatabase records the current database.
func (s *Session) SetDatabase(database string) {
	s.activity.set(func(a *activity) { a.database = database })
}

// Reserves implements txn.Observer.
func (s *Session) Reserves(reasons string, thread func(router.ShardName) uint32) {
	first := thread(s.now().Catalog.First())
	s.activity.set(func(a *activity) { a.pinned, a.pinnedThread = reasons, first })
}

// Process returns the session's row of the process list. took is how long it has been in its state. thread is the server's ID of its connection
// to the first shard. It is safe for concurrent use.
func (s *Session) Process(took time.Duration, thread uint32) sysvars.Process {
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	p := sysvars.Process{ID: s.id, User: a.user, Host: s.host, Command: "Sleep", Time: int(took.Seconds()), State: a.pinned, Pinned: a.pinnedThread}
	if a.database != "" {
		database := a.database
		p.DB = &database
	}
	if len(a.command) > 0 {
		p.Command, p.Thread = commandWord(a.command[0]), thread
		if a.command[0] == mysql.COM_QUERY || a.command[0] == mysql.COM_STMT_PREPARE {
			text := strings.TrimRight(strings.TrimSpace(strings.ToValidUTF8(string(a.command[1:]), "?")), "; \t\r\n") // as servers do
			p.Info = &text
		}
	}
	return p
}

// commandWord returns a command's name in a process list, such as "Query" or "Init DB".
func commandWord(command byte) string {
	switch command {
	case mysql.COM_STMT_EXECUTE:
		return "Execute"
	case mysql.COM_STMT_PREPARE:
		return "Prepare"
	case mysql.COM_INIT_DB:
		return "Init DB"
	}
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(wire.CommandName(command), "COM_"), "_", " ")))
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
