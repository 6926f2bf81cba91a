package migrate

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"

	"locus/migrate/audit"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
	"locus/migrate/preflight"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// shards holds the two servers of a leg and the tables whose rows it moves. It is immutable.
type shards struct {
	source, target link.Server
	tables         []*table.Table
	parts          table.Parts
	looked         preflight.Config // the configuration of the preflight check
}

// lookAt finds the servers and the tables of a leg. Problems that preflight finds are an error before the job
// has begun. Afterwards the job continues as far as possible, if all tables can be read.
func lookAt(ctx context.Context, store Store, log *slog.Logger, s Snapshot, l job.Leg) (*shards, error) {
	source, err := store.Source(ctx, s.Job)
	if err != nil {
		return nil, err
	}
	target, err := store.Shard(ctx, l.To)
	if err != nil {
		return nil, err
	}
	declared, err := tablesOf(ctx, store, s.Job)
	if err != nil {
		return nil, err
	}
	announced := s.Job.Announced(s.Map)
	if s.Job.Import != nil { // the job creates its tables after every proxy has learned of it
		announced = s.Job.State.Announced
	}
	replicas, err := ReplicasOf(ctx, store, s.Job, l)
	if err != nil {
		return nil, err
	}
	mustHave, err := EverywhereOf(ctx, store, s.Job, l.To)
	if err != nil {
		return nil, err
	}
	looked := preflight.Config{
		Source: source, Target: target, Replicas: replicas, Tables: declared, Width: s.Job.Width, Genes: l.Genes, Import: s.Job.Import != nil,
		// An aborted job may have dropped its tables already.
		Resumed: announced && s.Job.State.At() != phase.Aborting,
		Outside: s.Job.Outside() != nil, BySequence: s.Job.BySequence, Everywhere: mustHave,
	}
	report, err := preflight.Look(ctx, looked)
	if err != nil {
		return nil, err
	}
	if len(report.Problems) > 0 && (!announced || len(report.Tables)+report.Gone < len(declared)) {
		return nil, &refusedError{report.Problems}
	}
	for _, p := range report.Problems {
		log.Warn("preflight", "problem", p.String())
	}
	return &shards{source, target, report.Tables, table.Split(l.Genes, s.Job.Parts), looked}, nil
}

// ReplicasOf returns the servers that may replace the two servers of a leg.
func ReplicasOf(ctx context.Context, store Store, j *job.Job, l job.Leg) (list []preflight.Replica, err error) {
	shards := map[string]router.ShardName{"target": l.To}
	if j.Outside() == nil {
		shards["source"] = j.From
	}
	for _, role := range slices.Sorted(maps.Keys(shards)) {
		servers, err := store.Replicas(ctx, shards[role])
		if err != nil {
			return nil, err
		}
		for _, at := range servers {
			list = append(list, preflight.Replica{Server: at, Of: role})
		}
	}
	return list, nil
}

// tablesOf returns the tables whose rows a job moves.
func tablesOf(ctx context.Context, store Store, j *job.Job) (map[catalog.TableName]catalog.Declaration, error) {
	if j.Import != nil {
		return j.Import.Tables, nil
	}
	return store.Tables(ctx)
}

// homesOf returns the tables that may have parents of an import's rows: those that are imported together, and
// sharded ones.
func homesOf(ctx context.Context, store Store, j *job.Job) (h audit.Homes, err error) {
	if j.Import == nil {
		return h, nil
	}
	if h.Spread, err = store.Tables(ctx); err != nil {
		return h, err
	}
	// Once the tables are sharded, the store lists them too. The source still has all of their rows.
	h.Here, h.Spread = j.Import.Tables, maps.Clone(h.Spread)
	maps.DeleteFunc(h.Spread, func(name catalog.TableName, _ catalog.Declaration) bool { _, is := h.Here[name]; return is })
	names := slices.Clone(j.Import.Shards)
	if j.Outside() == nil {
		names = append(names, j.From)
	}
	for _, name := range names {
		at, err := store.Shard(ctx, name)
		if err != nil {
			return h, err
		}
		h.Shards = append(h.Shards, at)
	}
	return h, nil
}

// stillFit returns an error if the tables on one server have been changed. The reverse stream could then not
// read the target's changes.
func (sh *shards) stillFit(ctx context.Context) error {
	report, err := preflight.LookAtSchema(ctx, sh.looked)
	switch {
	case err != nil:
		return err
	case len(report.Problems) > 0:
		return &refusedError{report.Problems}
	case len(report.Tables) > len(sh.tables):
		return errors.New("a declared table was created on both servers while genes are being moved, and its rows are not moved: drop it there until the job is over")
	}
	return nil
}

// other returns the server of the leg that is not at.
func (sh *shards) other(at link.Server) link.Server {
	if at == sh.source {
		return sh.target
	}
	return sh.source
}
