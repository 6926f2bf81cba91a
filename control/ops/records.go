package ops

import (
	"locus/migrate/audit"
	"locus/migrate/changes"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/migrate/repair"
	"locus/proxy/mirror"
)

// The records that operations take and return, for callers that print them.
type (
	Job          = job.Job
	JobReport    = job.Report
	MirrorReport = mirror.Report
	Breach       = job.Breach
	Outside      = job.Outside
	Difference   = job.Difference
	Side         = job.Side
	Take         = job.Take
	Finding      = audit.Finding // about the rows of a table
	Misplaced    = repair.Stray  // a row on a shard that does not own it
	Saved        = changes.Saved // a transaction that only one server has
)

// PauseOnBreach is the usual reaction of a cut-over to a figure that gets worse.
const PauseOnBreach = job.PauseThen

// HandsOver reports whether a job that is resumed changes which shard applications use.
func HandsOver(j *Job) bool {
	at := j.State.At()
	return (at == phase.Cutting || at == phase.RollingBack) && j.State.Cut != j.State.Wanted
}
