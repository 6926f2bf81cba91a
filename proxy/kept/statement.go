package kept

import (
	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Statement is a statement that the client has prepared. Connections prepare it when they first run it.
type Statement struct {
	ID        uint32 // 0 until it is kept
	Text      string
	Lexed     stmt.Lexed
	Plan      plan.Plan
	Under     *catalog.Catalog // the plan is valid for this catalog,
	Rights    *plan.Rights     // for these rights,
	Shard     router.ShardName // and for the shard that the session had named then
	Reading   Reading
	Params    int
	Added     []Added             // parameters that the session itself adds
	Stored    backend.Stored      // the parameters that are only stored
	Temporary []catalog.TableName // the session's temporary tables at that time, which hide other tables

	Types []byte   // the parameters' types as last sent by the client
	Long  [][]byte // values from COM_STMT_SEND_LONG_DATA
	// TooLong is the reason why these values were dropped, or nil. With a reason, the execution fails.
	TooLong error
	Cursor  *txn.Cursor // the last cursor, or nil
	Sent    string      // the text that was last run, if it isn't the client's own

	held, longHeld int // the bytes that are counted for the statement and for these values
}

// Added is a parameter that the session adds to a prepared statement in place of a call to a generator. Each execution gets its own number.
type Added struct {
	At        int // index among all parameters
	Generator string
}

// Given returns the number of the client's parameters.
func (p *Statement) Given() int { return p.Params - len(p.Added) }

// size returns the bytes that are counted for a statement, with a rough estimate of its plan.
func (p *Statement) size() int { return 3*p.Lexed.Size() + mapEntry + 2*lightReading }
