package backend

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// ServerError is an error that the shard's server gave: code, SQLSTATE and message as it sent them.
type ServerError = mysql.MyError

// ErrClosed is wrapped by the error of Borrow once the pool was closed, as when its shard was removed. Nothing was sent.
var ErrClosed = errors.New("the pool is closed")

// ExhaustedError: no connection came free in time. Nothing was sent.
type ExhaustedError struct {
	Shard   router.ShardName
	Limit   int           // Limits.MaxOpen
	Open    int           // connections in use or being made: fewer than the limit if logins are slow
	Waiting int           // other borrowers in the queue
	Waited  time.Duration // zero: the queue was full, so this one didn't wait
	Held    bool          // by a switchover
	// Unleased: the proxy is cut off from etcd, and may not know who the primary is.
	Unleased bool
}

func (e *ExhaustedError) Error() string {
	const remedy = "raise the shard's connection limit (and the server's max_connections), or shorten transactions and the state that pins connections"
	if e.Unleased {
		return fmt.Sprintf("shard %s: this proxy is cut off from etcd, which alone says which of the shard's servers is the primary; waited for %v, with %d other sessions: see locus doctor",
			e.Shard, e.Waited.Round(time.Millisecond), e.Waiting)
	}
	if e.Held {
		return fmt.Sprintf("shard %s: another of its servers is made the primary, which has taken longer than %v; %d other sessions wait too: try again, and see locus doctor",
			e.Shard, e.Waited.Round(time.Millisecond), e.Waiting)
	}
	if e.Waited == 0 {
		return fmt.Sprintf("shard %s: all %d connections (limit %d) are in use and the queue is full with %d sessions: %s",
			e.Shard, e.Open, e.Limit, e.Waiting, remedy)
	}
	return fmt.Sprintf("shard %s: none of %d connections (limit %d) came free in %v, %d other sessions wait too: %s",
		e.Shard, e.Open, e.Limit, e.Waited.Round(time.Millisecond), e.Waiting, remedy)
}

// UnavailableError: recent logins failed, so for a while none is tried; or the server is frozen. Nothing was sent.
type UnavailableError struct {
	Shard  router.ShardName
	Addr   string
	Retry  time.Duration // until the next login is tried; 0: that is for probes to say
	Reason error         // why the last one failed
}

func (e *UnavailableError) Error() string {
	if e.Retry == 0 {
		return fmt.Sprintf("shard %s at %s is unavailable: %v", e.Shard, e.Addr, e.Reason)
	}
	return fmt.Sprintf("shard %s at %s is unavailable, next try in %v: %v", e.Shard, e.Addr, e.Retry.Round(time.Millisecond), e.Reason)
}

func (e *UnavailableError) Unwrap() error { return e.Reason }

// LoginError: a new connection couldn't be made. Nothing was sent. It never holds the password.
type LoginError struct {
	Shard router.ShardName
	Addr  string
	User  string
	Err   error // a *ServerError if the server refused
}

func (e *LoginError) Error() string {
	text := fmt.Sprintf("shard %s: log in to %s as %q: %v", e.Shard, e.Addr, e.User, e.Err)
	if mend := remedy(e.Err); mend != "" {
		text += ": " + mend
	}
	return text
}

func (e *LoginError) Unwrap() error { return e.Err }

// LostError: a connection broke, or was given up because the context ended. It can't be used any more and is to be discarded.
type LostError struct {
	Shard router.ShardName
	Addr  string
	Sent  bool // false: the command hasn't left whole and so had no effect. true: its effect is unknown
	Err   error
}

func (e *LostError) Error() string {
	effect := "the command was not sent"
	if e.Sent {
		effect = "whether the command took effect is unknown"
	}
	return fmt.Sprintf("shard %s: connection to %s lost, %s: %v", e.Shard, e.Addr, effect, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// NotSent reports whether err says for certain that the shard saw nothing, so that the statement may be tried again. The
// server's own errors are answers and not among these.
func NotSent(err error) bool {
	if lost, ok := errors.AsType[*LostError](err); ok {
		return !lost.Sent
	}
	_, exhausted := errors.AsType[*ExhaustedError](err)
	_, unavailable := errors.AsType[*UnavailableError](err)
	_, login := errors.AsType[*LoginError](err)
	return exhausted || unavailable || login || errors.Is(err, ErrClosed)
}
