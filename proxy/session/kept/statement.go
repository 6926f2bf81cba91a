package kept

import (
	"locus/proxy/txn"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Statement is one that the client has prepared. Connections prepare it when they first run it.
type Statement struct {
	ID        uint32 // 0: it is not kept yet
	Text      string
	Lexed     stmt.Lexed
	Plan      plan.Plan
	Under     *catalog.Catalog // the plan holds for this one,
	Rights    *plan.Rights     // for these rights,
	Shard     router.ShardName // and for the shard that the session had named then
	Reading   Reading
	Params    int
	Added     []Added             // of these, by the session itself
	Temporary []catalog.TableName // the session's then, which hide others

	Types []byte   // the parameters' types as the client last sent them
	Long  [][]byte // values that came by COM_STMT_SEND_LONG_DATA
	// TooLong is why these values were dropped: the execution fails.
	TooLong error
	Cursor  *txn.Cursor // the last, or nil
	Sent    string      // the text last run, where it isn't the client's own

	held, longHeld int // what the statement and these values count for, in bytes
}

// Added is a parameter that the session puts into a prepared statement in place of one that asks a generator: each execution has a
// number of its own.
type Added struct {
	At        int // among all parameters
	Generator string
}

// Given is how many parameters the client has.
func (p *Statement) Given() int { return p.Params - len(p.Added) }

// size is what a statement keeps, its plan roughly estimated.
func (p *Statement) size() int { return 3*p.Lexed.Size() + mapEntry + 2*lightReading }
