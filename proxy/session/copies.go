package session

import (
	"slices"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
)

// runGlobal runs a change of global tables on every shard.
func (s *Session) runGlobal(r *exec.Execution, p *plan.Global) error {
	if err := p.Alike(r.Values); err != nil {
		return err
	}
	if p.Insert.Numbered() != nil {
		return s.insertCopies(r, p)
	}
	total, err := s.runParts(r, exec.Everywhere(r.Snapshot.Catalog.Shards, slices.Clone(r.Spliced(p.Added))))
	if err != nil {
		return err
	}
	return s.done(wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings, LastInsertID: total.InsertID, Info: []byte(total.Info)})
}

// insertCopies runs an INSERT into a global table whose rows the cluster numbers. Each row gets the same number on every shard.
func (s *Session) insertCopies(r *exec.Execution, p *plan.Global) error {
	result, err := r.StampCopies(p)
	if err != nil {
		return err
	}
	only := result.Shards[0]
	parts := exec.Everywhere(r.Snapshot.Catalog.Shards, only.Text)
	if r.Prepared != nil {
		params := r.StampedParams(only.Params) // the shards share it, and only read it
		for i := range parts {
			parts[i].Params = params
		}
	}
	return s.insertParts(r, p.Insert, result, parts)
}
