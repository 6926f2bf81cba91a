package switchover

import (
	"slices"
	"time"
)

// Line is one step of a role change, and the name of the stop point before it.
type Line string

// The steps. Each may be repeated, also by another process.
const (
	// TakeOver ends the connections of earlier role changes, so that no delayed statement of theirs can arrive.
	TakeOver Line = "take over"
	// Check collects all problems that prevent the switchover. Until here, nothing has been changed.
	Check Line = "check"
	// Hold writes the version of the document that makes proxies pause statements for the shard.
	Hold Line = "hold"
	// Obeyed waits until every live proxy obeys that version and has no statement running at the primary.
	Obeyed Line = "obeyed"
	// ReadOnly ends the remaining connections and makes the primary read-only for every account.
	ReadOnly Line = "read-only"
	// Position waits until the next primary has everything that the primary has. The position must be read
	// after ReadOnly.
	Position Line = "position"
	// Writable ends the replication of the next primary and makes it writable.
	Writable Line = "writable"
	// Turn writes the version of the document that names the new primary. It is the only commit point.
	Turn Line = "turn"

	// FormerReadOnly makes the former primary read-only. Former and Others make the former primary and all other servers
	// replicas of the new one.
	FormerReadOnly Line = "former read-only"
	Former         Line = "former follows"
	Others         Line = "others follow"
	// Settle writes the version of the document that declares the role change complete.
	Settle Line = "settle"

	// Seize writes the next version of the document with the same content. A process that was suspended before
	// its Turn then fails, because the version has changed.
	Seize Line = "seize"
	// Look polls all reachable servers and calls the judge.
	Look Line = "look"
	// Leave writes the version of the document that makes proxies give up the primary at once.
	Leave Line = "leave"
	// Left waits until no proxy can send the former primary a statement whose result reaches a client. If a
	// proxy does not answer, Left waits until its lease has expired.
	Left Line = "left"
	// LookAgain polls the servers again and calls the judge.
	LookAgain Line = "look again"

	// OthersReadOnly makes all reachable servers read-only, except the one to promote.
	OthersReadOnly Line = "others read-only"
	// Received stops all reachable servers from receiving from the former primary, waits until the server to
	// promote has applied everything it received, and calls the judge again.
	Received Line = "received"

	// Gather makes all reachable servers except the primary read-only replicas of it.
	Gather Line = "all follow"

	// Without writes the version of the document by which the primary acknowledges without replicas. With
	// writes the one by which it waits for replicas again.
	Without Line = "without replicas"
	With    Line = "with replicas"

	// Demote makes the server that was to become the primary read-only again, and Rejoin makes it a replica again.
	Demote Line = "next read-only"
	Rejoin Line = "next follows"
	// Restore makes the primary writable again. It makes the primary wait for replicas, or not, as the document
	// declares.
	Restore Line = "primary writable"
)

// The procedures. If one is interrupted, another one completes it or undoes it. The document alone determines
// which one. At no moment are two servers writable, whichever step is interrupted and wherever the procedure is
// resumed. A test visits all these cases.
var (
	// Begin switches over from a settled document.
	Begin = slices.Concat(toCheck.lines, toSwitch.lines)
	// Mend undoes a switchover that failed or was interrupted before Turn.
	Mend = []Line{TakeOver, Seize, Demote, Rejoin, Restore, Settle}
	// Follow adopts a primary that an external tool has promoted, and Drop undoes that before Turn. They change
	// no server.
	Follow = slices.Concat(toJudge.lines, toFollow.lines)
	Drop   = []Line{Settle}
	// Take promotes a server without the help of the former primary, at an operator's request or as the most
	// advanced server. Keep confirms the current primary and makes the other servers read-only.
	Take = slices.Concat(toJudge.lines, toReplace.lines)
	Keep = []Line{Look, OthersReadOnly, Writable}
	// Finish completes a role change after Turn.
	Finish = []Line{TakeOver, FormerReadOnly, Restore, Former, Others, Settle}
	// Tidy does the same where locus promotes servers. It is repeated, because some servers may be down.
	Tidy = []Line{TakeOver, Gather, Restore, Settle}
	// GoOn lets the primary acknowledge without replicas, where locus promotes servers. WaitAgain ends that.
	GoOn      = []Line{TakeOver, Without, Restore}
	WaitAgain = []Line{TakeOver, With, Restore}
)

// part is some consecutive lines of a procedure, or all of them, with their time limit.
type part struct {
	limit time.Duration
	lines []Line
}

// The parts. Nothing is changed before the second part of a procedure, and a failed second part is undone.
var (
	toCheck   = part{before, []Line{TakeOver, Check}}
	toSwitch  = part{within, []Line{Hold, Obeyed, ReadOnly, Position, Writable, Turn}}
	toJudge   = part{before, []Line{Look}}
	toFollow  = part{leaving, []Line{Leave, Left, LookAgain, Turn}}
	toReplace = part{leaving, []Line{Leave, Left, OthersReadOnly, Received, Writable, Turn}}

	toMend      = part{after, Mend}
	toDrop      = part{after, Drop}
	toKeep      = part{before, Keep}
	toFinish    = part{after, Finish}
	toTidy      = part{after, Tidy}
	toGoOn      = part{before, GoOn}
	toWaitAgain = part{before, WaitAgain}
)
