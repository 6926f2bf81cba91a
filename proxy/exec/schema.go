package exec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// ChangeSchema runs CREATE, ALTER or DROP DATABASE on every shard, one after the other. No transaction can undo it. If a shard fails, the
// error says on which shards it was done. The counts are those of the shard with the highest, since single tables are on the first shard.
func (r *Request) ChangeSchema() (total wire.OK, err error) {
	var done []string
	for _, shard := range r.Catalog.Shards {
		ok, err := r.changeSchemaOn(shard, len(done) == 0)
		if err != nil {
			return total, partly(done, shard, err)
		}
		total.AffectedRows = max(total.AffectedRows, ok.AffectedRows)
		total.Warnings = max(total.Warnings, ok.Warnings)
		total.Status |= ok.Status & mysql.SERVER_STATUS_DB_DROPPED
		done = append(done, string(shard))
	}
	return total, nil
}

// Dropped returns the database that the statement drops, or "".
func (r *Request) Dropped() string {
	if r.Facts.Statement.Features&stmt.DropsSchema == 0 {
		return ""
	}
	return r.Facts.Statement.Schema
}

func (r *Request) changeSchemaOn(shard router.ShardName, first bool) (wire.OK, error) {
	l, err := r.Conns.Acquire(shard, 0)
	if err != nil {
		return wire.OK{}, err
	}
	ok, err := l.Conn.Run(r.Context, string(r.Values.Text), Leaves(r.Facts))
	if err != nil {
		l.Fail(err)
		return wire.OK{}, err
	}
	if first && ok.Warnings > 0 {
		r.keepWarnings(l)
	}
	if settings := l.Conn.Settings(); settings != nil && settings.Database() == r.Dropped() {
		l.Conn.Adopt(settings.WithDatabase("")) // as the server has left it
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
