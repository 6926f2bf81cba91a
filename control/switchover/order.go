package switchover

// Line is one line of an order, and the name of the stop point before it.
type Line string

// The lines. Each may be done again after it was done, whoever did it before.
const (
	// TakeOver ends the connections of whoever changed roles before: what it still
	// sends over them must not arrive.
	TakeOver Line = "take over"
	// Check looks for all that stands in the way. Nothing has been changed until then.
	Check Line = "check"
	// Hold is the version of the document by which proxies send the shard nothing.
	Hold Line = "hold"
	// Obeyed: every living proxy obeys it, and has nothing under way at the primary.
	Obeyed Line = "obeyed"
	// ReadOnly ends connections that no living proxy has, and has the primary refuse
	// to write for everybody.
	ReadOnly Line = "read-only"
	// Position: the next primary has all that the primary has. It is read now, not before.
	Position Line = "position"
	// Writable has the next primary follow nobody, and write.
	Writable Line = "writable"
	// Turn is the version of the document that names it: the one commit point.
	Turn Line = "turn"

	// FormerReadOnly, Former and Others: the former primary, and all others, follow.
	FormerReadOnly Line = "former read-only"
	Former         Line = "former follows"
	Others         Line = "others follow"
	// Settle is the version of the document that says that nothing is left to do.
	Settle Line = "settle"

	// Seize is the next version of the document, which says the same: one who stands still
	// before his turn, and is passed over, finds another one then.
	Seize Line = "seize"
	// Look reaches all servers that can be reached, and judges them.
	Look Line = "look"
	// Leave is the version of the document by which proxies give the primary up at once.
	Leave Line = "leave"
	// Left: no proxy sends it anything that it would tell its client; where one can't be
	// asked, its lease has run out.
	Left Line = "left"
	// LookAgain judges them again.
	LookAgain Line = "look again"

	// OthersReadOnly has all servers that are reached take no writes, but the one that is taken.
	OthersReadOnly Line = "others read-only"
	// Received: no server that is reached receives anything more of the former primary, the one that is taken has applied all that it was sent, and
	// all are judged again.
	Received Line = "received"

	// Gather has all servers that are reached, but the primary, take no writes and follow it.
	Gather Line = "all follow"

	// Without is the version of the document by which the primary acknowledges what no replica has, and
	// With the one by which it waits for replicas again.
	Without Line = "without replicas"
	With    Line = "with replicas"

	// Demote and Rejoin have the one that was to be the primary read only, and follow.
	Demote Line = "next read-only"
	Rejoin Line = "next follows"
	// Restore has the primary write again, and wait for replicas or not, as the document says.
	Restore Line = "primary writable"
)

// The orders. What is begun by one is ended by another one, which is found by the
// document alone. No two servers take writes at any moment of them, with
// whatever is broken off and taken up wherever: a test goes through all of it.
var (
	// Begin is what is done of a document that is settled.
	Begin = []Line{TakeOver, Check, Hold, Obeyed, ReadOnly, Position, Writable, Turn}
	// Mend is what is done of one that was broken off before its turn, and after a failure.
	Mend = []Line{TakeOver, Seize, Demote, Rejoin, Restore, Settle}
	// Follow goes over to a server that somebody else has made the primary, and Drop gives
	// that up. They change no server.
	Follow = []Line{Look, Leave, Left, LookAgain, Turn}
	Drop   = []Line{Settle}
	// Take makes a server the primary whatever there is of the one before, by somebody's order or as the
	// one that has most; and Keep has the one that is remain the only one.
	Take = []Line{Look, Leave, Left, OthersReadOnly, Received, Writable, Turn}
	Keep = []Line{Look, OthersReadOnly, Writable}
	// Finish is what is done after the turn.
	Finish = []Line{TakeOver, FormerReadOnly, Restore, Former, Others, Settle}
	// Tidy is it where locus promotes, again and again: some servers may be away.
	Tidy = []Line{TakeOver, Gather, Restore, Settle}
	// GoOn has the primary go on without replicas where locus promotes, and WaitAgain ends that.
	GoOn      = []Line{TakeOver, Without, Restore}
	WaitAgain = []Line{TakeOver, With, Restore}
)
