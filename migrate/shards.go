package migrate

import (
	"context"
	"log/slog"

	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
)

// shards are the two servers of a move and the tables whose rows it moves. Immutable.
type shards struct {
	source, target link.Server
	tables         []*table.Table
	parts          table.Parts
	looked         preflight.Config // at what the preflight looked
}

// lookAt finds the servers and the tables of a job. What the preflight refuses is an error, unless the job has begun: then it
// goes on as well as it can.
func lookAt(ctx context.Context, store Store, log *slog.Logger, s Snapshot) (*shards, error) {
	source, err := store.Shard(ctx, s.Job.From)
	if err != nil {
		return nil, err
	}
	target, err := store.Shard(ctx, s.Job.To)
	if err != nil {
		return nil, err
	}
	declared, err := store.Tables(ctx)
	if err != nil {
		return nil, err
	}
	_, announced := s.Map.MoveOf(s.Job.ID)
	looked := preflight.Config{
		Source: source, Target: target, Tables: declared, Width: s.Job.Width, Genes: s.Job.Genes, Resumed: announced,
	}
	report, err := preflight.Look(ctx, looked)
	if err != nil {
		return nil, err
	}
	if len(report.Problems) > 0 && !announced {
		return nil, &refusedError{report.Problems}
	}
	for _, p := range report.Problems {
		log.Warn("preflight", "problem", p.String())
	}
	return &shards{source, target, report.Tables, table.Split(s.Job.Genes, s.Job.Parts), looked}, nil
}

// stillFit returns an error if somebody has changed the tables of one server: the stream back could not read what is written
// at the target then.
func (sh *shards) stillFit(ctx context.Context) error {
	report, err := preflight.LookAtSchema(ctx, sh.looked)
	if err == nil && len(report.Problems) > 0 {
		err = &refusedError{report.Problems}
	}
	return err
}

// other is the server that at is not.
func (sh *shards) other(at link.Server) link.Server {
	if at == sh.source {
		return sh.target
	}
	return sh.source
}
