package session

import (
	"strings"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/sysvars"
	"locus/proxy/wire"
)

// activity is what a session lets others see of itself. The command is a view of
// the packet that is being served: it is copied under the lock, which is why the
// end of a command takes it.
type activity struct {
	mu       sync.Mutex
	user     string
	database string
	pinned   string
	kept     uint32 // the number of the connection to the first shard that is pinned
	command  []byte // nil: none
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

// set changes what is seen of the session's state.
func (a *activity) set(change func(*activity)) {
	a.mu.Lock()
	change(a)
	a.mu.Unlock()
}

// Process describes the session. It may be called from any goroutine. How long it has been doing what it does is what
// the watcher has seen, for a command may end without a look at the clock.
func (s *Session) Process(now time.Time) sysvars.Process {
	thread := s.interrupts.Thread(s.Snapshot().Catalog.First())
	a := &s.activity
	a.mu.Lock()
	defer a.mu.Unlock()
	p := sysvars.Process{ID: s.id, User: a.user, Host: s.host, Command: "Sleep", Time: int(s.interrupts.Took(now).Seconds()), State: a.pinned, Pinned: a.kept}
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

// commandWord is a command's name in a process list: "Query", "Init DB".
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
