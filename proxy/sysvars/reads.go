package sysvars

import (
	"slices"
	"strings"

	"locus/router/stmt"
)

// ReadsFrom determines where plain reads outside of transactions go: locus_read.
type ReadsFrom uint8

const (
	Primary ReadsFrom = iota
	// Replica allows late rows.
	Replica
	// OwnReplica is a replica that has applied all writes of the session.
	OwnReplica
)

// readsFrom contains the values of locus_read.
var readsFrom = [...]string{Primary: "primary", Replica: "replica", OwnReplica: "session"}

func setRead(s *Set, _ stmt.Variable, literal string) error {
	word := strings.ToLower(unquote(literal))
	if word == "default" {
		word = readsFrom[Primary]
	}
	i := slices.Index(readsFrom[:], word)
	if i < 0 {
		return wrongValue("Variable 'locus_read' can't be set to the value of %s: use primary, replica or session", literal)
	}
	s.Reads = ReadsFrom(i)
	return nil
}

func read(a *Answers, q question) string {
	from := a.Reads
	if q.global {
		from = Primary
	}
	return "'" + readsFrom[from] + "'"
}
