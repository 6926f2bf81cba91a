// Package differential runs random statements twice: through the proxy, over
// three shards, and on one plain server that holds the same rows. Both must give
// the same answer, unless the proxy refuses with a code of its own.
//
// It owns the generator of statements, their dress, the comparison and the list of what
// is known to be wrong. It never knows how the proxy comes to an answer. Generators
// write plain statements; the dress spells any of them with comments between the words,
// for the SQL mode and the character set that both sessions wear just then.
//
//	LOCUS_SEED=7 LOCUS_STATEMENTS=100000 go test ./test/differential -run Random -timeout 1h
//
// repeats the run that printed seed 7, or one as long as is wanted.
package differential

import (
	"testing"

	"locus/internal/test/servers"
)

func TestMain(m *testing.M) { servers.Main(m) }
