package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/wire"
	"locus/router"
)

// errLong means that the answer is too long to be compared.
var errLong = errors.New("the answer is too long")

// errNoRows means that the answer has no column definitions, so it is not the answer to a read.
var errNoRows = errors.New("the answer is not a result set")

// errGone means that the shard is no longer declared.
var errGone = errors.New("it is not declared")

// ask runs the read on a shard within the deadline, on a connection of the shard's pool with the client's settings. An error
// means that there is no answer to compare. A server's error about the statement is an Answer.
func (m *Mirror) ask(ctx context.Context, shard router.ShardName, r *Read, in *Reader) (Answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, m.config.Deadline, errLate)
	defer cancel()
	pool, ok := m.config.Pools.Pool(shard)
	if !ok {
		return Answer{}, errGone
	}
	conn, err := pool.BorrowSoon(ctx, r.Settings, r.Profile)
	if err != nil {
		return errorAnswer(err)
	}
	in.Extended = r.Profile&backend.ExtendedMetadata != 0
	err = run(ctx, conn, r, in)
	if !conn.Usable() {
		pool.Discard(conn)
	} else {
		pool.Return(conn)
	}
	a, whole := in.Answer()
	switch {
	case errors.Is(err, errLong):
		return Answer{Long: true}, nil
	case err != nil:
		return errorAnswer(err)
	case !whole:
		return a, errNoRows
	}
	return a, nil
}

// errLate is the cause of the end of a copy that took too long.
var errLate = errors.New("no answer in time")

// errorAnswer converts a server's error about the statement into an Answer, and returns other errors.
func errorAnswer(err error) (Answer, error) {
	if _, login := errors.AsType[*backend.LoginError](err); login {
		return Answer{}, err
	}
	refused, ok := errors.AsType[*backend.ServerError](err)
	if !ok || slices.Contains(passing, refused.Code) {
		return Answer{}, err
	}
	return Answer{Code: refused.Code}, nil
}

// passing lists errors that depend on a server's state rather than its data: lock waits, deadlocks, time limits, kills.
var passing = []uint16{
	mysql.ER_LOCK_WAIT_TIMEOUT, mysql.ER_LOCK_DEADLOCK, mysql.ER_QUERY_INTERRUPTED, mysql.ER_CON_COUNT_ERROR, mysql.ER_OUT_OF_RESOURCES,
	mysql.ER_OUTOFMEMORY, 3024, 1969,
}

// run sends the read and reads its answer.
func run(ctx context.Context, conn *backend.Conn, r *Read, in *Reader) error {
	packet, err := command(ctx, conn, r)
	if err != nil {
		return err
	}
	defer conn.Watch(ctx)()
	if err := conn.Send(packet, backend.Nothing); err != nil {
		return causeOf(ctx, err)
	}
	in.Begin()
	var scanner wire.Scanner
	scanner.Reset(wire.QueryResponse)
	from := conn.Stream()
	for {
		n, state, err := scanner.Scan(from.Unread())
		if err != nil {
			return conn.Lost(true, err)
		}
		in.Saw(from.Unread()[:n])
		from.Discard(n)
		switch {
		case in.Long():
			return conn.Lost(true, errLong) // the rest of the answer is not read
		case state == wire.Done:
			return endAnswer(conn, &scanner)
		case state != wire.NeedBytes:
			return conn.Lost(true, fmt.Errorf("%s in the answer to a read", state))
		}
		if err := from.Fill(); err != nil {
			return causeOf(ctx, conn.Lost(true, err))
		}
	}
}

// endAnswer handles the end of an answer.
func endAnswer(conn *backend.Conn, scanner *wire.Scanner) error {
	code, failed := scanner.ErrCode()
	switch {
	case failed && code == mysql.ER_SERVER_SHUTDOWN:
		return conn.Leaving()
	case failed:
		return &backend.ServerError{Code: code, State: scanner.ErrState(), Message: "the read was refused"}
	}
	conn.SetStatus(scanner.Status())
	return nil
}

// causeOf returns the deadline's error if the deadline ended a read, and otherwise err.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// command builds the packet that runs the read. It prepares the statement if necessary, outside of the measured time.
func command(ctx context.Context, conn *backend.Conn, r *Read) ([]byte, error) {
	if !r.Prepared {
		packet, _ := wire.AppendCommand(nil, mysql.COM_QUERY, r.Text)
		return packet, nil
	}
	under, text := conn.Settings().ReadAs(r.Under), string(r.Text)
	binding := backend.AppendBinding(nil, r.Params, nil)
	there, ok := conn.PreparedUnder(under, text, binding)
	if !ok {
		var err error
		if there, err = conn.PrepareUnder(ctx, under, text, binding); err != nil {
			return nil, causeOf(ctx, err)
		}
	}
	if there.Params != len(r.Params) {
		return nil, fmt.Errorf("%d parameters of %d", len(r.Params), there.Params)
	}
	there.Types = nil // the types may differ from those of the last execution
	packet, _ := wire.AppendExecute(nil, wire.Execute{Statement: there.ID, Params: r.Params})
	return packet, nil
}
