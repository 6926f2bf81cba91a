package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// Adding is an ALTER TABLE that adds columns which rows may leave out, and does nothing else.
//
// Each shard gets the columns invisible as soon as no session has the table locked there, and shows them once all shards have them.
// Between the two steps all proxies learn of the columns, so that no statement reads "all columns" of a shard that shows more than another
// one.
type Adding struct {
	Altering
	Columns []stmt.AddedColumn
	// Known has all proxies read the tables anew. Its error is not one of the statement: who doesn't know plans anew when
	// shards answer with other columns than others.
	Known func()
}

// adding is an Adding in progress.
type adding struct {
	*Request
	Adding
	settings *backend.Settings
	until    time.Time
	states   map[router.ShardName]columnsState
	done     []router.ShardName // that were given the columns
	warned   bool
	total    wire.OK
}

// columnsState is the state of the columns on a shard.
type columnsState uint8

const (
	lacking columnsState = iota
	hidden               // all of them, and some invisible
	visible              // all of them
	mixed                // some of them
)

// AddColumns adds the columns, as Define makes a definition. Its error says which shards have them. The same statement continues where it
// stopped.
func (r *Request) AddColumns(of Adding, tell func(Defined)) error {
	end, err := r.takeTurn()
	if err != nil {
		return undone(err)
	}
	defer end()
	a := &adding{Request: r, Adding: of, states: map[router.ShardName]columnsState{}}
	a.until, a.settings = r.patience()
	if err := a.look(); err != nil {
		return undone(err)
	}
	if why := a.unfit(); why != "" {
		return r.alter(a.Altering, tell)
	}
	if err := a.add(); err != nil {
		if errors.Is(err, errNotInstant) {
			return r.alter(a.Altering, tell)
		}
		return a.failed(err, tell)
	}
	a.Known()
	if err := a.show(); err != nil {
		return a.failed(err, tell)
	}
	passed := a.passed()
	if len(passed) > 0 && len(a.done) > 0 {
		if err := r.alike(a.done[0], passed); err != nil {
			return a.failed(&DefinitionError{Err: err, Before: "on shard " + string(passed[0].Shard) + ": ", After: "; the columns are on every shard"}, tell)
		}
	}
	tell(Defined{OK: a.total, Done: a.changed(), Passed: passed})
	return nil
}

// look asks every shard for the state of its columns. All must answer.
func (a *adding) look() error {
	for _, shard := range a.Catalog.Shards {
		if err := a.Reach(shard, answerWait); err != nil {
			return err
		}
		state, err := a.state(shard)
		if err != nil {
			return err
		}
		a.states[shard] = state
	}
	return nil
}

func (a *adding) state(shard router.ShardName) (columnsState, error) {
	full := FullName(a.Facts.Statement.Tables[0], a.Schema(a.Work))
	rows, err := a.Ask(shard, backend.Default, "SELECT COLUMN_NAME, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+backend.Quote(full.Schema)+" AND TABLE_NAME = "+backend.Quote(full.Name))
	if err != nil {
		return mixed, err
	}
	has, invisible := 0, 0
	for _, c := range a.Columns {
		for _, row := range rows.Rows {
			if strings.EqualFold(string(row[0]), c.Name) {
				has++
				if strings.Contains(strings.ToUpper(string(row[1])), "INVISIBLE") {
					invisible++
				}
			}
		}
	}
	switch {
	case has == 0:
		return lacking, nil
	case has < len(a.Columns):
		return mixed, nil
	case invisible > 0:
		return hidden, nil
	}
	return visible, nil
}

// unfit returns why the statement is left to the servers; empty if it is not.
func (a *adding) unfit() string {
	left := false
	for _, state := range a.states {
		if state == mixed {
			return "a shard has some of the columns"
		}
		left = left || state != visible
	}
	if !left {
		return "there is nothing left to do"
	}
	return ""
}

func (a *adding) in(state columnsState) (shards []router.ShardName) {
	for _, shard := range a.Catalog.Shards {
		if a.states[shard] == state {
			shards = append(shards, shard)
		}
	}
	return shards
}

// changed returns the shards that this statement has changed.
func (a *adding) changed() (shards []router.ShardName) {
	for _, shard := range a.Catalog.Shards {
		if slices.Contains(a.done, shard) {
			shards = append(shards, shard)
		}
	}
	return shards
}

// passed returns the shards that had the columns before.
func (a *adding) passed() (list []Passed) {
	for _, shard := range a.Catalog.Shards {
		if !slices.Contains(a.done, shard) {
			list = append(list, Passed{shard, wire.Errorf(mysql.ER_DUP_FIELDNAME, "42S21", "Duplicate column name '%s'", a.Columns[0].Name)})
		}
	}
	return list
}

// add adds the columns, invisible, on the shards that lack them.
func (a *adding) add() error {
	clauses := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		clauses[i] = "ADD COLUMN " + a.Values.Written(c.Definition) + " INVISIBLE " + a.Values.Written(c.Position)
	}
	text := "ALTER TABLE " + a.quoted(a.Facts.Statement.Tables[0]) + " " + strings.Join(clauses, ", ") + ", ALGORITHM=INSTANT"
	return a.onEach(lacking, text, func(shard router.ShardName) {
		a.states[shard] = hidden
		a.done = append(a.done, shard)
	})
}

// show makes the columns visible.
func (a *adding) show() error {
	clauses := make([]string, len(a.Columns))
	for i, c := range a.Columns {
		if a.Altering.Flavor.ShowsColumnsByName() {
			clauses[i] = "ALTER COLUMN " + plan.Quote(c.Name) + " SET VISIBLE"
		} else {
			clauses[i] = "MODIFY COLUMN " + a.Values.Written(c.Definition)
		}
	}
	text := "ALTER TABLE " + a.quoted(a.Facts.Statement.Tables[0]) + " " + strings.Join(clauses, ", ")
	return a.onEach(hidden, text, func(shard router.ShardName) {
		a.states[shard] = visible
		if !slices.Contains(a.done, shard) {
			a.done = append(a.done, shard)
		}
	})
}

// onEach runs a text on the shards in a state, one after the other. It returns later to shards where another session had the table locked.
func (a *adding) onEach(state columnsState, text string, done func(router.ShardName)) error {
	for {
		var busy error
		for _, shard := range a.in(state) {
			err := a.May()
			if err == nil {
				err = a.run(shard, text)
			}
			switch {
			case err == nil:
				done(shard)
			case state == lacking && a.addedMeanwhile(shard, err):
			case isLockWait(err):
				busy = &stepError{shard, err}
			case isNotInstant(err) && state == lacking && len(a.done) == 0:
				return errNotInstant
			default:
				return &stepError{shard, err}
			}
		}
		if busy == nil || time.Now().After(a.until) {
			return busy
		}
		if err := pause(a.Conns.Waits(), lockPause); err != nil {
			return err
		}
	}
}

// addedMeanwhile reports whether another session has added the columns on a shard since its state was read.
func (a *adding) addedMeanwhile(shard router.ShardName, err error) bool {
	if e, is := errors.AsType[*mysql.MyError](err); !is || e.Code != mysql.ER_DUP_FIELDNAME {
		return false
	}
	state, err := a.state(shard)
	if err != nil || state == lacking || state == mixed {
		return false
	}
	a.states[shard] = state
	return true
}

func (a *adding) run(shard router.ShardName, text string) error {
	l, err := a.Apart(shard, a.settings)
	if err != nil {
		return err
	}
	a.Observer.Sent(l)
	ok, err := l.Conn.Run(a.Conns.Waits(), text, Leaves(a.Facts))
	a.Observer.Trace().Answered(string(shard), ok.AffectedRows, CodeOf(err))
	if err != nil {
		l.Fail(err)
		return err
	}
	if ok.Warnings > 0 && !a.warned {
		a.warned, a.total.Warnings = true, ok.Warnings
		a.keepWarnings(l)
	}
	l.Done(l.Conn.Status())
	return nil
}

// stepError is the error of one shard.
type stepError struct {
	shard router.ShardName
	err   error
}

func (e *stepError) Error() string { return fmt.Sprintf("on shard %s: %v", e.shard, e.err) }
func (e *stepError) Unwrap() error { return e.err }

var errNotInstant = errors.New("not at once")

// isNotInstant reports the servers' errors of a column for which they must rewrite the table, and MySQL's error of a table that was
// changed without a rewrite too often.
func isNotInstant(err error) bool {
	const (
		notSupported       = 1845
		notSupportedReason = 1846
		tooManyVersions    = 4092
	)
	return hasCode(err, notSupported, notSupportedReason, tooManyVersions)
}

// failed adds to the error which shards have the columns.
func (a *adding) failed(err error, tell func(Defined)) error {
	tell(Defined{Done: a.changed(), Err: err})
	var e *DefinitionError
	if errors.As(err, &e) {
		return e
	}
	step, is := errors.AsType[*stepError](err)
	if !is {
		step = &stepError{err: err}
	}
	out := &DefinitionError{Err: step.err, After: a.stands()}
	if step.shard != "" {
		out.Before = "on shard " + string(step.shard) + ": "
		if !txn.IsRefusal(step.err) {
			if out.After == nothingDone {
				out.After = "; nothing was done on any other shard"
			}
			out.After += "; whether " + string(step.shard) + " has done it is not known"
		}
	}
	if out.After != nothingDone {
		out.After += ": fix the cause and repeat the statement, which goes on"
	}
	if isLockWait(step.err) {
		out.After = held + out.After
	}
	return out
}

func (a *adding) stands() string {
	with := a.in(visible)
	unseen := a.in(hidden)
	switch {
	case len(with) == 0 && len(unseen) == 0:
		return nothingDone
	case len(unseen) == 0:
		return "; the columns are on " + names(with)
	case len(with) == 0:
		return "; the columns are on " + names(unseen) + ", and invisible"
	}
	return "; the columns are on " + names(with) + ", and, invisible, on " + names(unseen)
}
