package ddl

import (
	"context"
	"errors"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/proxy/wire"
)

// errOtherFailed is the cause when a shard is not sent the definition any more.
var errOtherFailed = errors.New("another shard has failed")

// severally makes a definition that statements may find on some shards only. Each shard makes it when no session has the table locked there,
// independently of the others.
func (a *alteration) severally() error {
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
	gaveUp := a.each(func(on *onShard) error {
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
			return a.brokenOff(err)
		}
	}
	return a.conclude()
}

// whenFree repeats attempts on a shard until none meets a lock of another session. Its error is the reason why it stopped.
func (a *alteration) whenFree(waits context.Context, on *onShard, attempt func() error) error {
	for {
		if on.err = attempt(); !isLockWait(on.err) || time.Now().After(a.until) {
			return nil
		}
		if err := pause(waits, lockPause); err != nil {
			return err
		}
		if err := a.may(); err != nil {
			return err
		}
	}
}

// briefly sends the definition to a server that waits for locks as long as one attempt may. After that its work is lost and repeated.
func (a *alteration) briefly(on *onShard, packet []byte) error {
	err := on.Conn.Send(packet, txn.Effects(a.Facts))
	if err == nil {
		on.ok, err = on.Conn.Outcome()
	}
	return err
}

// patiently sends the definition to a server once the table can be locked. The server may wait for its final
// lock as long as the session's setting permits, so that a long-running alteration is not lost.
func (a *alteration) patiently(on *onShard, packet []byte) error {
	ctx, cancel := context.WithTimeoutCause(a.Context, lockAnswer, txn.ErrNoAnswer)
	defer cancel()
	if err := on.Conn.Carry(ctx, a.attempt); err != nil {
		return err
	}
	if err := a.freed(on); err != nil && (isLockWait(err) || !txn.IsRefusal(err)) { // else the account may not lock it, or it isn't there
		return err
	}
	if err := on.Conn.Carry(ctx, a.Settings); err != nil {
		return err
	}
	return a.briefly(on, packet)
}

// brokenOff ends an alteration that is stopped while another session has the table locked.
func (a *alteration) brokenOff(why error) error {
	a.end()
	done := a.done()
	out := &Error{Err: why, After: nothingDone}
	if len(done) > 0 {
		out.After = "; it was done on " + names(done) + ": repeat the statement, which skips the shards where it was done"
	}
	a.finish(Outcome{Done: done, Err: out})
	return out
}
