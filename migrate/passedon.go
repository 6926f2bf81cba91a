package migrate

import (
	"context"
	"log/slog"
	"slices"

	"locus/migrate/checksum"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/repair"
	"locus/migrate/table"
)

// cascadeRepair repairs rows that the stream could not keep equal during the copy. The source does not log
// cascades of foreign keys. If a cascade changes a row that the target does not have yet, the stream can't
// repeat it there. The comparison before the first step finds such rows. At that time the source owns all rows.
type cascadeRepair struct {
	rows *repair.Comparison // nil if there can be no such rows
	log  *slog.Logger
}

// cascades returns the repair of such rows for a leg.
func (v *verifier) cascades(ctx context.Context, s Snapshot, l *leg, owner link.Server) (cascadeRepair, error) {
	st := s.Job.State
	if st.Phase != phase.Verifying || st.Reversible || owner != l.shards.source || !slices.ContainsFunc(l.shards.tables, (*table.Table).PassedOn) {
		return cascadeRepair{}, nil
	}
	if logged, err := logsCascades(ctx, owner); err != nil || logged {
		return cascadeRepair{}, err
	}
	return cascadeRepair{&repair.Comparison{
		Owner: owner, Other: l.shards.target, Genes: l.genes, Hold: l.hold(job.AtTarget), Job: s.Job.ID, By: "the comparison, after cascades of foreign keys",
	}, v.log}, nil
}

// logsCascades reports whether a server logs the changes that its foreign keys make.
func logsCascades(ctx context.Context, at link.Server) (bool, error) {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return false, err
	}
	defer c.Close()
	rows, err := c.Query(ctx, "SHOW GLOBAL VARIABLES LIKE 'innodb\\_native\\_foreign\\_keys'")
	return err == nil && len(rows) > 0 && string(rows[0][1]) == "OFF", err
}

func (r cascadeRepair) do(ctx context.Context, d checksum.Difference) (checksum.Repaired, error) {
	if r.rows == nil || !d.Table.PassedOn() {
		return checksum.Stands, nil
	}
	return r.rows.Do(ctx, d)
}

func (r cascadeRepair) close() {
	if r.rows == nil {
		return
	}
	r.rows.Close()
	if n := r.rows.Rows(); n > 0 {
		r.log.Info("rows repaired after cascades of foreign keys: locus.move_repair on the target has them", "rows", n)
	}
}
