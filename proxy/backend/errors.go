package backend

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
)

// ServerError is an error from the shard's server, with the code, SQLSTATE and message as sent.
type ServerError = mysql.MyError

// LacksParent reports whether a server refused a row because the parent of one of its foreign keys isn't there.
func LacksParent(err error) bool {
	e, is := errors.AsType[*ServerError](err)
	return is && (e.Code == mysql.ER_NO_REFERENCED_ROW || e.Code == mysql.ER_NO_REFERENCED_ROW_2)
}

// ErrClosed is wrapped by the error of Borrow once the pool is closed, for example because its shard was removed. Nothing was
// sent.
var ErrClosed = errors.New("the pool is closed")

// named returns how messages name the shard. A server without a shard's name is one that a command was given the address of.
func named(shard router.ShardName) string {
	if shard == "" {
		return "server"
	}
	return "shard " + string(shard)
}

// ExhaustedError means that no connection came free in time. Nothing was sent.
type ExhaustedError struct {
	Shard   router.ShardName
	Limit   int           // Limits.MaxOpen
	Open    int           // connections in use or being made; fewer than the limit if logins are slow
	Waiting int           // other borrowers in the queue
	Waited  time.Duration // zero if the queue was full, so that this one didn't wait
	Held    bool          // held by a switchover
	// Unleased reports that the proxy is cut off from etcd and may not know the current primary. Since is when its lease ended.
	Unleased bool
	Since    time.Time
	// StaleAllowed reports that plain reads go on meanwhile.
	StaleAllowed bool
}

func (e *ExhaustedError) Error() string {
	const remedy = "raise the shard's connection limit (and the server's max_connections), or shorten transactions and the state that pins connections"
	if e.Unleased {
		return fmt.Sprintf("%s: waited for %v, with %d other sessions: %v", named(e.Shard), e.Waited.Round(time.Millisecond), e.Waiting, unleasedSince(e.Since, e.StaleAllowed))
	}
	if e.Held {
		return fmt.Sprintf("%s: another of its servers is made the primary, which has taken longer than %v; %d other sessions wait too: try again, and see locus doctor",
			named(e.Shard), e.Waited.Round(time.Millisecond), e.Waiting)
	}
	if e.Waited == 0 {
		return fmt.Sprintf("%s: all %d connections (limit %d) are in use and the queue is full with %d sessions: %s",
			named(e.Shard), e.Open, e.Limit, e.Waiting, remedy)
	}
	return fmt.Sprintf("%s: none of %d connections (limit %d) came free in %v, %d other sessions wait too: %s",
		named(e.Shard), e.Open, e.Limit, e.Waited.Round(time.Millisecond), e.Waiting, remedy)
}

// UnavailableError means that recent logins failed and none is tried for a while, or that the server is frozen. Nothing was
// sent.
type UnavailableError struct {
	Shard  router.ShardName
	Addr   string
	Retry  time.Duration // until the next login is tried; 0 if that depends on probes
	Reason error         // why the last login failed
}

func (e *UnavailableError) Error() string {
	if e.Retry == 0 {
		return fmt.Sprintf("%s at %s is unavailable: %v", named(e.Shard), e.Addr, e.Reason)
	}
	return fmt.Sprintf("%s at %s is unavailable, next try in %v: %v", named(e.Shard), e.Addr, e.Retry.Round(time.Millisecond), e.Reason)
}

func (e *UnavailableError) Unwrap() error { return e.Reason }

// LoginError means that a new connection could not be made. Nothing was sent. It never contains the password.
type LoginError struct {
	Shard router.ShardName
	Addr  string
	User  string
	Err   error // a *ServerError if the server refused
}

func (e *LoginError) Error() string {
	text := fmt.Sprintf("%s: log in to %s as %q: %v", named(e.Shard), e.Addr, e.User, e.Err)
	if mend := remedy(e.Err); mend != "" {
		text += ": " + mend
	}
	return text
}

func (e *LoginError) Unwrap() error { return e.Err }

// LostError means that a connection broke, or was given up because the context ended. It can't be used again and must be
// discarded.
type LostError struct {
	Shard router.ShardName
	Addr  string
	Sent  bool // false: the command wasn't sent whole and had no effect; true: its effect is unknown
	Err   error
}

func (e *LostError) Error() string {
	effect := "the command was not sent"
	if e.Sent {
		effect = "whether the command took effect is unknown"
	}
	return fmt.Sprintf("%s: connection to %s lost, %s: %v", named(e.Shard), e.Addr, effect, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// NotSent reports whether it is certain that the shard received nothing, so that the statement may be retried. The server's
// own errors are answers, so NotSent returns false for them.
func NotSent(err error) bool {
	if lost, ok := errors.AsType[*LostError](err); ok {
		return !lost.Sent
	}
	_, exhausted := errors.AsType[*ExhaustedError](err)
	_, unavailable := errors.AsType[*UnavailableError](err)
	_, login := errors.AsType[*LoginError](err)
	return exhausted || unavailable || login || errors.Is(err, ErrClosed)
}

// Unreached reports whether a server refused the proxy's own login. That is no answer for the client.
func Unreached(err error) bool {
	login, ok := errors.AsType[*LoginError](err)
	if !ok {
		return false
	}
	e, refused := errors.AsType[*mysql.MyError](login)
	return !refused || e.Code != mysql.ER_QUERY_INTERRUPTED
}
