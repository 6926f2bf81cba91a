package exec

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/fence"
	"locus/proxy/txn"
	"locus/router/plan"
)

// stage reads the client's file into the temporary table, according to the session's settings. It returns the number of warnings.
func (w *workspace) stage(load *plan.Load) (uint16, error) {
	if err := w.create(load.Temporary(), load.Make()...); err != nil {
		return 0, err
	}
	c := w.lease.Conn
	if err := c.Carry(w.x.Context, w.x.under()); err != nil {
		return 0, err
	}
	if err := w.x.send(w.lease, nil, nil); err != nil {
		return 0, err
	}
	switch err := w.x.Client.PassFile(c); {
	case txn.IsRefusal(err): // the server did not request the file
		return 0, err
	case err != nil:
		return 0, w.giveUp(err)
	}
	ok, err := c.Outcome()
	if err != nil {
		return 0, err
	}
	if ok.Warnings > 0 {
		w.x.keepWarnings(w.lease)
	}
	w.x.learn(w.lease, w.x.Facts.Statement.Assigns)
	return ok.Warnings, nil
}

// runLoad runs a LOAD DATA LOCAL whose rows go to several shards. One shard reads the client's file into a temporary table. The
// rows are inserted from that table in one transaction.
func (x *Execution) runLoad(load *plan.Load) error {
	if x.Client.Capabilities&mysql.CLIENT_LOCAL_FILES == 0 {
		return x.Snapshot.Flavor.NoLocalFiles()
	}
	if err := x.requireUTF8(); err != nil {
		return err
	}
	if err := x.Admit(nil, true, nil); err != nil {
		return err
	}
	own := x.clone()
	own.Outside = true // the temporary table is outside the transaction, and the rows are inserted in it
	var in insertedRows
	first := x.Snapshot.Catalog.First() // the first shard has the functions that SET may call
	err := own.onWorkspace(first, func(w *workspace) error {
		warnings, err := w.stage(load)
		if err != nil {
			return err
		}
		err = w.leniently(func() error {
			as := insertion{Rows: load.Around(), Plan: load.Batch}
			in, err = w.x.insertRows(as, func(add rowAdder) error { return w.copyRows(load.Read(), nil, load.Destination, add) })
			return err
		})
		in.Warn(warnings)
		return err
	})
	if held, ok := err.(*fence.HeldError); ok { //nolint:errorlint // it is never wrapped
		return x.RollBackAsDeadlock("%v", held) // the client's file was read, and can't be requested again
	}
	if err != nil {
		return err
	}
	deleted, skipped := int64(0), max(0, int64(in.Rows)-int64(in.Affected))
	if load.Replace {
		deleted, skipped = max(0, int64(in.Affected)-int64(in.Rows)), 0
	}
	return x.writeInserted(in, fmt.Appendf(nil, "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d", in.Rows, deleted, skipped, in.Warnings))
}
