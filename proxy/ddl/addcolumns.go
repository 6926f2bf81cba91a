package ddl

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

// adding is an ALTER TABLE that only adds columns which rows may omit.
//
// Each shard adds the columns as invisible as soon as no session has the table locked there. Once all shards
// have them, each makes them visible. Between the two steps, all proxies read the new columns. So no statement
// reads "all columns" from a shard that shows more columns than another one.
type adding struct {
	*definition
	columns  []stmt.AddedColumn
	settings *backend.Settings
	until    time.Time
	states   map[router.ShardName]columnsState
	added    []router.ShardName // the shards to which this statement gave the columns
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

// addColumns adds the columns, and has the same contract as define. Its error names the shards that have them.
// The same statement continues where this one stopped.
func (d *definition) addColumns() error {
	a := &adding{definition: d, columns: d.Plan.Adds, states: map[router.ShardName]columnsState{}}
	a.until, a.settings = d.patience()
	if err := a.read(); err != nil {
		return undone(err)
	}
	if a.unfit() {
		return d.alter()
	}
	if err := a.add(); err != nil {
		if errors.Is(err, errNotInstant) {
			return d.alter()
		}
		return a.failed(err)
	}
	if d.Redefined != nil { // a proxy that does not know plans again when shards answer with different columns
		_ = d.Redefined(d.Conns.Waits(), d.Change())
	}
	if err := a.show(); err != nil {
		return a.failed(err)
	}
	passed := a.passed()
	if len(passed) > 0 && len(a.added) > 0 {
		if err := d.alike(a.added[0], passed); err != nil {
			return a.failed(&Error{Err: err, Before: "on shard " + string(passed[0].Shard) + ": ", After: "; the columns are on every shard"})
		}
	}
	d.finish(Outcome{OK: a.total, Done: a.changed(), Passed: passed})
	return nil
}

// read reads the state of the columns on every shard. All must answer.
func (a *adding) read() error {
	for _, shard := range a.catalog.Shards {
		if err := a.Conns.Reach(shard, 0, a.Settings, answerWait); err != nil {
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
	full := a.FullName(a.Facts.Statement.Tables[0])
	rows, err := a.Conns.Ask(shard, 0, backend.Default, "SELECT COLUMN_NAME, EXTRA FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+backend.Quote(full.Schema)+" AND TABLE_NAME = "+backend.Quote(full.Name))
	if err != nil {
		return mixed, err
	}
	has, invisible := 0, 0
	for _, c := range a.columns {
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
	case has < len(a.columns):
		return mixed, nil
	case invisible > 0:
		return hidden, nil
	}
	return visible, nil
}

// unfit reports whether the statement is left to the servers: a shard has some of the columns, or every shard has all.
func (a *adding) unfit() bool {
	left := false
	for _, state := range a.states {
		if state == mixed {
			return true
		}
		left = left || state != visible
	}
	return !left
}

func (a *adding) in(state columnsState) (shards []router.ShardName) {
	for _, shard := range a.catalog.Shards {
		if a.states[shard] == state {
			shards = append(shards, shard)
		}
	}
	return shards
}

// changed returns the shards that this statement has changed.
func (a *adding) changed() (shards []router.ShardName) {
	for _, shard := range a.catalog.Shards {
		if slices.Contains(a.added, shard) {
			shards = append(shards, shard)
		}
	}
	return shards
}

// passed returns the shards that had the columns before.
func (a *adding) passed() (list []Passed) {
	for _, shard := range a.catalog.Shards {
		if !slices.Contains(a.added, shard) {
			list = append(list, Passed{shard, wire.Errorf(mysql.ER_DUP_FIELDNAME, "42S21", "Duplicate column name '%s'", a.columns[0].Name)})
		}
	}
	return list
}

// add adds the columns, invisible, on the shards that lack them.
func (a *adding) add() error {
	clauses := make([]string, len(a.columns))
	for i, c := range a.columns {
		clauses[i] = "ADD COLUMN " + a.Values.Written(c.Definition) + " INVISIBLE " + a.Values.Written(c.Position)
	}
	text := "ALTER TABLE " + a.quoted(a.Facts.Statement.Tables[0]) + " " + strings.Join(clauses, ", ") + ", ALGORITHM=INSTANT"
	return a.onEach(lacking, text, func(shard router.ShardName) {
		a.states[shard] = hidden
		a.added = append(a.added, shard)
	})
}

// show makes the columns visible.
func (a *adding) show() error {
	clauses := make([]string, len(a.columns))
	for i, c := range a.columns {
		if a.Under.Flavor.ShowsColumnsByName() {
			clauses[i] = "ALTER COLUMN " + plan.Quote(c.Name) + " SET VISIBLE"
		} else {
			clauses[i] = "MODIFY COLUMN " + a.Values.Written(c.Definition)
		}
	}
	text := "ALTER TABLE " + a.quoted(a.Facts.Statement.Tables[0]) + " " + strings.Join(clauses, ", ")
	return a.onEach(hidden, text, func(shard router.ShardName) {
		a.states[shard] = visible
		if !slices.Contains(a.added, shard) {
			a.added = append(a.added, shard)
		}
	})
}

// onEach runs a text on the shards in a state, one after the other. It returns later to shards where another session had the table locked.
func (a *adding) onEach(state columnsState, text string, done func(router.ShardName)) error {
	for {
		var busy error
		for _, shard := range a.in(state) {
			err := a.may()
			if err == nil {
				err = a.run(shard, text)
			}
			switch {
			case err == nil:
				done(shard)
			case state == lacking && a.addedMeanwhile(shard, err):
			case isLockWait(err):
				busy = &stepError{shard, err}
			case isNotInstant(err) && state == lacking && len(a.added) == 0:
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
	l, err := a.Conns.LendApart(shard, 0, a.settings)
	if err != nil {
		return err
	}
	a.Observer.Sent(l)
	ok, err := l.Conn.Run(a.Conns.Waits(), text, txn.Effects(a.Facts))
	a.Observer.Trace().Answered(string(shard), ok.AffectedRows, txn.CodeOf(err))
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
func (a *adding) failed(err error) error {
	a.finish(Outcome{Done: a.changed(), Err: err})
	if e, is := errors.AsType[*Error](err); is {
		return e
	}
	step, is := errors.AsType[*stepError](err)
	if !is {
		step = &stepError{err: err}
	}
	out := &Error{Err: step.err, After: a.standing()}
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

// standing describes which shards have the columns.
func (a *adding) standing() string {
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
