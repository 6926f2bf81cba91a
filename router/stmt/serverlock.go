package stmt

// ServerLock is a lock on a whole server.
type ServerLock uint8

const (
	ReadLock      ServerLock = iota + 1 // FLUSH TABLES WITH READ LOCK
	InstanceLock                        // LOCK INSTANCE FOR BACKUP
	InstanceFreed                       // UNLOCK INSTANCE
)

// String returns the lock's statement.
func (l ServerLock) String() string {
	return [...]string{"", "FLUSH TABLES WITH READ LOCK", "LOCK INSTANCE FOR BACKUP", "UNLOCK INSTANCE"}[l]
}

// readInstanceLock reads LOCK INSTANCE FOR BACKUP and UNLOCK INSTANCE, which the parser doesn't support. It returns false for
// other statements.
func readInstanceLock(l *Lexed) (*Statement, bool) {
	r := lexemeReader{l, l.lexemes(maxHead)}
	s := &Statement{Kind: LockServers}
	switch {
	case r.takes("lock", "instance", "for", "backup"):
		s.ServerLock = InstanceLock
	case r.takes("unlock", "instance"):
		s.ServerLock = InstanceFreed
	default:
		return nil, false
	}
	if len(r.list) > 0 {
		return nil, false
	}
	l.Note(s)
	return s, true
}
