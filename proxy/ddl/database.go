package ddl

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// presentTime is the time limit of the question whether a shard answers.
const presentTime = 2 * time.Second

// DefineDatabase runs CREATE, ALTER or DROP DATABASE on every shard, one after the other, unless a shard does not answer. No transaction can
// undo it. If a shard fails, the error says on which shards it was done. The counts are those of the shard with the highest, since single
// tables are on the first shard.
func (s *Session) DefineDatabase(st Statement) (total wire.OK, err error) {
	if err := s.Commit(); err != nil {
		return total, err
	}
	d := &definition{Session: s, Statement: st, catalog: st.Under.Catalog, began: time.Now()}
	if err := d.present(); err != nil {
		return total, err
	}
	var done []string
	var out Outcome
	defer func() { d.made(out) }()
	for _, shard := range d.catalog.Shards {
		ok, err := d.defineDatabaseOn(shard, len(done) == 0)
		if err != nil {
			out.Err = err
			return total, partly(done, shard, err)
		}
		total.AffectedRows = max(total.AffectedRows, ok.AffectedRows)
		total.Warnings = max(total.Warnings, ok.Warnings)
		total.Status |= ok.Status & mysql.SERVER_STATUS_DB_DROPPED
		done, out.Done = append(done, string(shard)), append(out.Done, shard)
	}
	return total, nil
}

// Dropped returns the database that the statement drops, or "".
func (s *Statement) Dropped() string {
	if s.Facts.Statement.Features&stmt.DropsSchema == 0 {
		return ""
	}
	return s.Facts.Statement.Schema
}

// present returns an error unless every shard answers.
func (d *definition) present() error {
	for _, shard := range d.catalog.Shards {
		if err := d.Conns.Reach(shard, 0, d.Settings, presentTime); err != nil {
			return absent(shard, err)
		}
	}
	return nil
}

// absent returns the error for the client. A server's error about the proxy's own question is passed on.
func absent(shard router.ShardName, err error) error {
	if txn.IsRefusal(err) && !backend.Unreached(err) {
		return err
	}
	if lost, ok := errors.AsType[*backend.LostError](err); ok {
		err = lost.Err // nothing else was sent
	}
	return wire.Errorf(wire.ErNetRead, wire.StateLink, "shard %s can't be asked, and a definition is made on every shard or on none: %v; the statement was not run on any shard", shard, err)
}

func (d *definition) defineDatabaseOn(shard router.ShardName, first bool) (wire.OK, error) {
	l, err := d.Conns.Acquire(shard, 0)
	if err != nil {
		return wire.OK{}, err
	}
	ok, err := l.Conn.Run(d.Context, string(d.Values.Text), txn.Effects(d.Facts))
	if err != nil {
		l.Fail(err)
		return wire.OK{}, err
	}
	if first && ok.Warnings > 0 {
		d.keepWarnings(l)
	}
	if settings := l.Conn.Settings(); settings != nil && settings.Database() == d.Dropped() {
		l.Conn.Adopt(settings.WithDatabase("")) // the server has changed the database in this way
	}
	l.Pool.LeaveDatabases()
	l.Done(l.Conn.Status())
	return ok, nil
}

// partly adds to an error on which shards the statement had been done before.
func partly(done []string, at router.ShardName, err error) error {
	if len(done) == 0 {
		return err
	}
	text := fmt.Sprintf("on shard %s: %v; it was done on %s: repeat it with IF (NOT) EXISTS", at, err, strings.Join(done, ", "))
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		return wire.Errorf(e.Code, e.State, "%s", text)
	}
	return wire.Errorf(mysql.ER_UNKNOWN_ERROR, wire.StateGeneral, "%s", text)
}
