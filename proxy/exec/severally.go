package exec

import (
	"context"
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/proxy/wire"
)

// errOtherFailed is why a shard is not asked any more.
var errOtherFailed = errors.New("another shard has failed")

// severally makes a definition that statements don't mind to find on some shards alone. Each shard does it when nobody holds the table
// there, and others don't wait for it.
func (a *alteration) severally(tell func(Defined)) error {
	large, err := a.large()
	if err != nil {
		return a.begunNowhere(err)
	}
	attempt := a.briefly
	if large {
		attempt = a.patiently
	}
	packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, a.text())
	waits, stop := context.WithCancelCause(a.Conns.Waits())
	defer stop(nil)
	for i := range a.shards {
		a.Observer.Sent(a.shards[i].Lease)
	}
	gaveUp := a.each(func(on *defining) error {
		err := a.whenFree(waits, on, func() error { return attempt(on, packet) })
		if on.err != nil && !isLockWait(on.err) && a.already(on.err) == nil {
			stop(errOtherFailed)
		}
		return err
	})
	for i := range a.shards {
		a.answered(&a.shards[i])
	}
	for _, err := range gaveUp {
		if err != nil && !errors.Is(err, errOtherFailed) {
			return a.brokenOff(err, tell)
		}
	}
	return a.conclude(tell)
}

// whenFree tries it on a shard until it doesn't meet others' locks there. Its error is why it was not tried any more.
func (a *alteration) whenFree(waits context.Context, on *defining, attempt func() error) error {
	for {
		if on.err = attempt(); !isLockWait(on.err) || time.Now().After(a.until) {
			return nil
		}
		if err := pause(waits, lockPause); err != nil {
			return err
		}
		if err := a.May(); err != nil {
			return err
		}
	}
}

// briefly has the server wait for a lock as long as an attempt may. What has been done of it by then is done again.
func (a *alteration) briefly(on *defining, packet []byte) error {
	err := on.Conn.Send(packet, Leaves(a.Facts))
	if err == nil {
		on.ok, err = on.Conn.Outcome()
	}
	return err
}

// patiently has the server begin when the table is free. For the lock that it needs at the end it waits as the session has it: what took
// long is not to be in vain.
func (a *alteration) patiently(on *defining, packet []byte) error {
	ctx, cancel := context.WithTimeoutCause(a.Context, lockAnswer, errNoAnswer)
	defer cancel()
	if err := on.Conn.Carry(ctx, a.attempt); err != nil {
		return err
	}
	if err := a.freed(on); err != nil && (isLockWait(err) || !txn.IsRefusal(err)) { // else the account may not lock it, or it isn't there
		return err
	}
	if err := on.Conn.Carry(ctx, a.Vars.Settings); err != nil {
		return err
	}
	return a.briefly(on, packet)
}

// brokenOff ends one that is not tried any more where somebody holds the table.
func (a *alteration) brokenOff(why error, tell func(Defined)) error {
	a.end()
	done := a.done()
	out := &DefinitionError{Err: why, After: nothingDone}
	if len(done) > 0 {
		out.After = "; it was done on " + names(done) + ": repeat the statement, which skips the shards where it was done"
	}
	tell(Defined{Done: done, Err: out})
	return out
}
