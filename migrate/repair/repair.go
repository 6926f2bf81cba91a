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

// Pair is two servers between which rows are made equal. One goroutine uses it.
type Pair struct {
	winner, loser *link.Conn
	rows, others  *applier.Rows // of the loser, of the winner
	noted         bool          // there is where to write down what is repaired
}

// Open connects to the server whose rows stand, and to the one whose rows are changed.
func Open(ctx context.Context, winner, loser link.Server, genes gene.Set) (*Pair, error) {
	p := new(Pair)
	err := p.open(ctx, winner, loser, genes)
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// lockPatience is for who holds a row: streams and clients wait meanwhile for the one that is held here.
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

// Of has rows of other genes left alone from now on.
func (p *Pair) Of(genes gene.Set) {
	p.rows.Of(genes)
	p.others.Of(genes)
}

// Close ends the connections; what was not committed is rolled back.
func (p *Pair) Close() {
	for _, c := range []*link.Conn{p.winner, p.loser} {
		if c != nil {
			_ = c.Close()
		}
	}
}

// Change is one row that is to be made equal.
type Change struct {
	Table *table.Table
	Key   table.Key
	// Winner and Loser are the rows' sums when somebody decided; see [table.Row.Sum].
	Winner, Loser string
	// Gone: the loser is to have no row, and the winner keeps its own.
	Gone bool
	// Owned: the loser is the row's owner, whose stream carries the change on.
	Owned bool
	// Hold keeps the job the caller's until the transaction ends; nil: there is nothing to be held.
	Hold func(context.Context, *link.Conn) error
	// Stop is called before the row is written, before the commit and after it, in tests; nil: nowhere.
	Stop func(point string)
	// Job, Took and By are written down.
	Job, Took, By string
}

// The stop points of a repair.
const (
	Judged    = "repair-judged"
	Written   = "repair-written"
	Committed = "repair-committed"
)

// Outcome is what became of a row.
type Outcome struct {
	Kind Kind
	// Winner and Loser are the rows as they are, where they were not what was seen.
	Winner, Loser table.Row
	// Why a server refused the row.
	Why string
}

// Kind is what became of a row.
type Kind string

// What can become of one.
const (
	Done    Kind = "repaired"
	Equal   Kind = "equal already"
	Changed Kind = "changed meanwhile"
	Refused Kind = "refused"
)

// tries bounds how often a row is begun anew: as a deadlock's victim, and where a row of its key has come
// meanwhile, which is looked at then. Another row that has a unique value of it is there each time.
const tries = 3

// Do makes a row equal. An error means that it is not known what became of it, or that nothing more can be
// done over these connections: doing it again is safe.
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

// refused tells errors that are the row's own: others may be repaired.
func refused(err error) bool {
	return link.Code(err) != 0 || errors.As(err, new(notStoredError)) || errors.As(err, new(*applier.LongError)) || errors.As(err, new(*table.TypedError))
}

// Look reads a row at both servers, each once nobody is about to change it.
func (p *Pair) Look(ctx context.Context, t *table.Table, k table.Key) (winner, loser table.Row, err error) {
	if loser, err = p.rows.Lock(ctx, t, k); err == nil {
		winner, err = p.others.Lock(ctx, t, k)
	}
	return winner, loser, err
}

// Broken tells whether a connection is lost: nothing more can be done over it.
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

// within is what is done within the transaction.
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

// judge says what is to be done, by the rows as they are.
func (c Change) judge(winner, loser string) Kind {
	switch {
	case c.Gone && loser == "", !c.Gone && winner == loser:
		return Equal
	case winner != c.Winner || loser != c.Loser:
		return Changed
	}
	return Done
}

// read reads the winner's row, by a statement of its own, once nobody is about to change it.
func (p *Pair) read(ctx context.Context, c Change) (table.Row, error) {
	return p.others.Lock(ctx, c.Table, c.Key)
}

// notStoredError is a row that the server does not store as it is.
type notStoredError struct{ what string }

func (e notStoredError) Error() string { return e.what }

// write writes the winner's row, and makes sure that it stands.
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

// becomes is the row that the loser is to have.
func (c Change) becomes(o Outcome) table.Row {
	if c.Gone {
		return nil
	}
	return o.Winner
}

// note writes the repair down.
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

// refusal returns why a server refused a row, and what to do about a row that is in the way.
func refusal(err error) string {
	if link.Duplicate(err) {
		return link.Reason(err) + ": another row there has the same values in that unique key; change or delete one of the two rows through a proxy, then repair again"
	}
	return link.Reason(err)
}
