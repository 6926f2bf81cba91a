package session

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/fence"
	"locus/router/plan"
)

// runLoad runs a LOAD DATA LOCAL whose rows go to several shards. One shard reads the client's file into a temporary table. The
// rows are inserted from that table in one transaction.
func (s *Session) runLoad(r *exec.Execution, load *plan.Load) error {
	if s.client.Capabilities&mysql.CLIENT_LOCAL_FILES == 0 {
		return r.Snapshot.Flavor.NoLocalFiles()
	}
	if err := s.requireUTF8(); err != nil {
		return err
	}
	if err := s.admit(r, nil, true, nil); err != nil {
		return err
	}
	own := r.Clone()
	own.Outside = true // the temporary table is outside the transaction, and the rows are inserted in it
	var in exec.Inserted
	first := r.Snapshot.Catalog.First() // it has the functions that SET may call
	err := own.OnHost(first, func(h *exec.Host) error {
		warnings, err := h.Stage(load)
		if err != nil {
			return err
		}
		err = h.Leniently(func() error {
			as := exec.Insertion{Rows: load.Around(), Plan: load.Batch}
			in, err = h.Insert(as, func(add exec.Add) error { return h.Copy(load.Read(), nil, load.Destination, add) })
			return err
		})
		in.Warn(warnings)
		return err
	})
	if held, ok := err.(*fence.HeldError); ok { //nolint:errorlint // it is never wrapped
		return s.rollBackAsDeadlock("%v", held) // the client's file was read, and can't be requested again
	}
	if err != nil {
		return err
	}
	deleted, skipped := int64(0), max(0, int64(in.Rows)-int64(in.Affected))
	if load.Replace {
		deleted, skipped = max(0, int64(in.Affected)-int64(in.Rows)), 0
	}
	return s.writeInserted(in, fmt.Appendf(nil, "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d", in.Rows, deleted, skipped, in.Warnings))
}
