package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// part is what one shard does of a statement that changes rows on several.
type part struct {
	shard  router.ShardName
	text   []byte // nil: the client's own
	params []wire.Param
}

// totals are the sums over the parts.
type totals struct {
	affected uint64
	warnings uint16
	// matched and changed are what an UPDATE says of itself.
	matched, changed uint64
	// insertID is the first that a part has generated.
	insertID uint64
}

// runGlobal runs a change of global tables on every shard.
func (s *Session) runGlobal(r *request, p *plan.Global) error {
	if err := p.Alike(r.values); err != nil {
		return err
	}
	parts := make([]part, 0, len(r.snapshot.Catalog.Shards))
	for _, shard := range r.snapshot.Catalog.Shards {
		parts = append(parts, part{shard: shard})
	}
	before := len(s.vars.Conditions)
	total, err := s.runParts(r, parts)
	if err != nil {
		return err
	}
	total = s.oneCopy(total, len(parts), before)
	ok := wire.OK{AffectedRows: total.affected, Warnings: total.warnings, LastInsertID: total.insertID}
	if err := s.writeOK(ok); err != nil {
		return &clientGone{err}
	}
	return nil
}

// oneCopy gives what the client is told of a change that every shard has made alike.
// Warnings from before it stay.
func (s *Session) oneCopy(total totals, shards, before int) totals {
	total.affected /= uint64(shards)
	total.warnings /= uint16(shards)
	s.vars.Conditions = s.vars.Conditions[:before+(len(s.vars.Conditions)-before)/shards]
	return total
}

// runSchema runs CREATE, ALTER or DROP DATABASE, which no transaction can undo,
// on every shard, and says where it was done if it was not done everywhere.
func (s *Session) runSchema(r *request) error {
	if err := s.conns.Commit(); err != nil {
		return err
	}
	var done []string
	var total wire.OK // of the shard that has most: the single tables are on the first
	dropped := ""
	if r.facts.Statement.Features&stmt.DropsSchema != 0 {
		dropped = r.facts.Statement.Schema
	}
	for _, shard := range r.snapshot.Catalog.Shards {
		l, err := s.conns.Acquire(shard, 0)
		if err != nil {
			return partly(done, shard, err)
		}
		s.tellLeft(r)
		ok, err := l.Conn.Run(s.ctx, string(r.values.Text), left(r.facts))
		if err != nil {
			l.Fail(err)
			return partly(done, shard, err)
		}
		total.AffectedRows = max(total.AffectedRows, ok.AffectedRows)
		total.Warnings = max(total.Warnings, ok.Warnings)
		total.Status |= ok.Status & mysql.SERVER_STATUS_DB_DROPPED
		if len(done) == 0 && ok.Warnings > 0 {
			s.keepWarnings(l)
		}
		if settings := l.Conn.Settings(); settings != nil && settings.Database() == dropped {
			l.Conn.Adopt(settings.WithDatabase("")) // as the server has left it
		}
		l.Pool.LeaveDatabases()
		l.Done(l.Conn.Status())
		done = append(done, string(shard))
	}
	if dropped != "" && s.vars.Settings.Database() == dropped {
		s.carry(s.vars.Settings.WithDatabase(""))
		s.vars.TrackSchema()
	}
	if s.defines(r) {
		s.reread(done)
	}
	if err := s.writeOK(total); err != nil {
		return &clientGone{err}
	}
	return nil
}

// partly adds to an error where the statement had been done before.
func partly(done []string, at router.ShardName, err error) error {
	if len(done) == 0 {
		return err
	}
	text := fmt.Sprintf("on shard %s: %v; it was done on %s: repeat it with IF (NOT) EXISTS", at, err, strings.Join(done, ", "))
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return fail(e.Code, e.State, "%s", text)
	}
	return fail(mysql.ER_UNKNOWN_ERROR, stateGeneral, "%s", text)
}

// runParts runs the parts of a statement in one transaction: the client's, which it
// begins with autocommit off, or one of its own. If a part fails, none of the parts
// remains.
func (s *Session) runParts(r *request, parts []part) (total totals, err error) {
	s.Counts.Scattered.Add(1)
	began := !s.conns.Running() && !s.vars.Autocommit
	err = s.conns.Atomically(func() (err error) {
		total, err = s.runEach(r, parts)
		return err
	})
	if err != nil && began && s.unbegun(r, err) {
		s.conns.Unbegin()
	}
	return total, err
}

// runEach has every shard do its part; all are sent before any is awaited, and
// none before there is a connection to each.
func (s *Session) runEach(r *request, parts []part) (totals, error) {
	restore := s.oneTime(r, parts)
	leases := make([]txn.Lease, 0, len(parts))
	for _, p := range parts {
		l, err := s.conns.Acquire(p.shard, txn.Writes)
		if err != nil {
			for _, idle := range leases {
				idle.Release()
			}
			return totals{}, errors.Join(err, restore(leases))
		}
		leases = append(leases, l)
	}
	var failure error
	sent := leases
	for i, p := range parts {
		if err := s.send(leases[i], r, p.text, p.params); err != nil {
			failure, sent = unsent(leases[i], err), leases[:i]
			for _, idle := range leases[i+1:] {
				idle.Release()
			}
			break
		}
	}
	total, err := s.outcomes(sent)
	if failure == nil {
		failure = err
	}
	if err := restore(leases); failure == nil {
		failure = err
	}
	return total, failure
}

// outcomes reads the answers to the parts, and takes the connections back once all are
// read: one may end the transaction of all. The error is the first one's.
func (s *Session) outcomes(leases []txn.Lease) (totals, error) {
	var total totals
	var failure error
	errs := make([]error, len(leases))
	for i, l := range leases {
		ok, err := l.Conn.Outcome()
		s.timing.trace.Answered(string(l.Shard), ok.AffectedRows, codeOf(err))
		if errs[i] = err; err == nil {
			total.add(ok)
			if ok.Warnings > 0 {
				s.keepWarnings(l)
			}
		} else if failure == nil {
			failure = err
		}
	}
	for i, l := range leases {
		if err := errs[i]; err != nil {
			l.Fail(err)
		} else {
			l.Done(l.Conn.Status())
		}
	}
	return total, failure
}

func (t *totals) add(ok wire.OK) {
	t.affected += ok.AffectedRows
	t.warnings += ok.Warnings
	if t.insertID == 0 {
		t.insertID = ok.LastInsertID
	}
	var matched, changed uint64
	if n, _ := fmt.Sscanf(string(ok.Info), "Rows matched: %d  Changed: %d", &matched, &changed); n == 2 {
		t.matched, t.changed = t.matched+matched, t.changed+changed
	}
}
