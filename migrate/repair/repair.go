package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/idgen/gene"
	"locus/migrate/applier"
	"locus/migrate/checkpoint"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Pair holds the connections to two servers between which rows are made equal. One goroutine uses it.
type Pair struct {
	winner, loser *link.Conn
	rows, others  *applier.Rows // rows of the server that loses, and of the server that wins
	noted         bool          // the table for the record of repairs exists
}

// Open connects to the server whose rows win, and to the one whose rows are changed.
func Open(ctx context.Context, winner, loser link.Server, genes gene.Set) (*Pair, error) {
	p := new(Pair)
	err := p.open(ctx, winner, loser, genes)
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// lockPatience limits the wait for a locked row, because streams and clients wait meanwhile for the row that is
// locked here.
const lockPatience = "SET SESSION innodb_lock_wait_timeout = 1"

func (p *Pair) open(ctx context.Context, winner, loser link.Server, genes gene.Set) (err error) {
	if p.winner, err = link.Dial(ctx, winner); err != nil {
		return err
	}
	if p.loser, err = link.Dial(ctx, loser); err != nil {
		return err
	}
	for _, c := range []*link.Conn{p.winner, p.loser} {
		if _, err := c.Exec(ctx, lockPatience); err != nil {
			return err
		}
	}
	if p.rows, err = applier.NewRows(ctx, p.loser, genes); err != nil {
		return err
	}
	p.others, err = applier.NewRows(ctx, p.winner, genes)
	return err
}

// Of limits the repair to rows of the given genes from now on.
func (p *Pair) Of(genes gene.Set) {
	p.rows.Of(genes)
	p.others.Of(genes)
}

// Close closes the connections. The servers roll back open transactions.
func (p *Pair) Close() {
	for _, c := range []*link.Conn{p.winner, p.loser} {
		if c != nil {
			_ = c.Close()
		}
	}
}

// Change is one row to make equal.
type Change struct {
	Table *table.Table
	Key   table.Key
	// Winner and Loser are the checksums of the rows at the time of the decision; see [table.Row.Sum].
	Winner, Loser string
	// Gone: the loser's row is deleted, and the winner keeps its own.
	Gone bool
	// Owned: the loser is the row's owner, whose stream carries the change on.
	Owned bool
	// Hold locks the job for the caller until the transaction ends; nil if there is no job.
	Hold func(context.Context, *link.Conn) error
	// Stop is called before the row is written, before the commit and after it, in tests; may be nil.
	Stop func(point string)
	// Job, Took and By are recorded in locus.move_repair.
	Job, Took, By string
}

// The stop points of a repair.
const (
	Judged    = "repair-judged"
	Written   = "repair-written"
	Committed = "repair-committed"
)

// Outcome is the result for a row.
type Outcome struct {
	Kind Kind
	// Winner and Loser are the current rows, if they differ from the ones that the operator saw.
	Winner, Loser table.Row
	// Why is the reason why a server refused the row.
	Why string
}

// Kind is the kind of result for a row.
type Kind string

// The kinds of results.
const (
	Done    Kind = "repaired"
	Equal   Kind = "equal already"
	Changed Kind = "changed meanwhile"
	Refused Kind = "refused"
)

// tries bounds the attempts for a row: after a deadlock, and after a duplicate-key error. A row with the same
// key may have been inserted meanwhile, and the next attempt reads it. If another row has one of its unique
// values, each attempt fails.
const tries = 3

// Do makes a row equal. After an error the result is unknown, or the connections can't be used any more.
// Repeating the call is safe.
func (p *Pair) Do(ctx context.Context, c Change) (o Outcome, err error) {
	if !p.noted {
		if err := checkpoint.Create(ctx, p.loser); err != nil {
			return o, err
		}
		p.noted = true
	}
	for range tries {
		if o, err = p.once(ctx, c); link.Code(err) != mysql.ER_LOCK_DEADLOCK && !link.Duplicate(err) {
			break
		}
	}
	if refused(err) {
		return Outcome{Kind: Refused, Why: refusal(err)}, nil
	}
	return o, err
}

// refused reports whether an error concerns only this row, so that other rows may still be repaired.
func refused(err error) bool {
	return link.Code(err) != 0 || errors.As(err, new(notStoredError)) || errors.As(err, new(*applier.LongError)) || errors.As(err, new(*table.TypedError))
}

// Look reads a row on both servers with a lock, so that no other transaction changes it meanwhile.
func (p *Pair) Look(ctx context.Context, t *table.Table, k table.Key) (winner, loser table.Row, err error) {
	if loser, err = p.rows.Lock(ctx, t, k); err == nil {
		winner, err = p.others.Lock(ctx, t, k)
	}
	return winner, loser, err
}

// Broken reports whether a connection is lost.
func (p *Pair) Broken() bool { return p.winner.Broken() != nil || p.loser.Broken() != nil }

func (p *Pair) once(ctx context.Context, c Change) (o Outcome, err error) {
	if _, err := p.loser.Exec(ctx, "START TRANSACTION"); err != nil {
		return o, err
	}
	if o, err = p.within(ctx, c); err == nil && o.Kind == Done {
		c.stop(Written)
		if _, err = p.loser.Exec(ctx, "COMMIT"); err == nil {
			c.stop(Committed)
			return o, nil
		}
		err = fmt.Errorf("commit: %w", err)
	}
	if p.loser.Broken() == nil {
		_, rollback := p.loser.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		err = errors.Join(err, rollback)
	}
	return o, err
}

func (c Change) stop(point string) {
	if c.Stop != nil {
		c.Stop(point)
	}
}

// within repairs the row inside the transaction.
func (p *Pair) within(ctx context.Context, c Change) (o Outcome, err error) {
	if c.Hold != nil {
		if err := c.Hold(ctx, p.loser); err != nil {
			return o, err
		}
	}
	if o.Loser, err = p.rows.Lock(ctx, c.Table, c.Key); err != nil {
		return o, err
	}
	if o.Winner, err = p.read(ctx, c); err != nil {
		return o, err
	}
	switch o.Kind = c.judge(o.Winner.Sum(), o.Loser.Sum()); o.Kind {
	case Equal, Changed:
		return o, nil
	case Done, Refused:
	}
	c.stop(Judged)
	if !c.Owned {
		if err := p.note(ctx, c, o); err != nil {
			return o, err
		}
	}
	if err := p.write(ctx, c, o); err != nil {
		return o, err
	}
	again, err := p.read(ctx, c)
	if err != nil {
		return o, err
	}
	if again.Sum() != c.Winner {
		o.Kind, o.Winner = Changed, again
		return o, nil
	}
	if c.Owned {
		err = p.note(ctx, c, o)
	}
	return o, err
}

// judge decides on the action, given the checksums of the current rows.
func (c Change) judge(winner, loser string) Kind {
	switch {
	case c.Gone && loser == "", !c.Gone && winner == loser:
		return Equal
	case winner != c.Winner || loser != c.Loser:
		return Changed
	}
	return Done
}

// read reads the winner's row with a lock, so that no transaction is changing it.
func (p *Pair) read(ctx context.Context, c Change) (table.Row, error) {
	return p.others.Lock(ctx, c.Table, c.Key)
}

// notStoredError reports a row that the server does not store unchanged.
type notStoredError struct{ what string }

func (e notStoredError) Error() string { return e.what }

// write writes the winner's row and verifies it.
func (p *Pair) write(ctx context.Context, c Change, o Outcome) (err error) {
	row := c.becomes(o)
	if o.Loser == nil {
		err = p.rows.Insert(ctx, c.Table, row)
	} else {
		err = p.rows.Replace(ctx, c.Table, c.Key, row)
	}
	if err != nil {
		return err
	}
	stands, err := p.rows.Lock(ctx, c.Table, c.Key)
	if err != nil {
		return err
	}
	if stands.Sum() != row.Sum() {
		var columns []string
		for _, i := range table.Differing(stands, row) {
			columns = append(columns, c.Table.Columns[i].Name)
		}
		return notStoredError{fmt.Sprintf("the server makes another row of it, in columns %v: make both servers' tables alike", columns)}
	}
	return nil
}

// becomes returns the row that the loser is to have.
func (c Change) becomes(o Outcome) table.Row {
	if c.Gone {
		return nil
	}
	return o.Winner
}

// note records the repair in locus.move_repair.
func (p *Pair) note(ctx context.Context, c Change, o Outcome) error {
	text := func(r table.Row) []byte {
		if r == nil {
			return nil
		}
		return c.Table.AppendValues(nil, r)
	}
	return p.rows.Send(ctx, checkpoint.AppendRepair(link.Begin(nil), checkpoint.Repair{
		Job: c.Job, Table: c.Table.Name.String(), Took: c.Took, By: c.By, Was: text(o.Loser), Became: text(c.becomes(o)),
	}))
}

// refusal returns the reason why a server refused a row. If another row has its unique value, it adds the
// remedy.
func refusal(err error) string {
	if link.Duplicate(err) {
		return link.Reason(err) + ": another row there has the same values in that unique key; change or delete one of the two rows through a proxy, then repair again"
	}
	return link.Reason(err)
}
