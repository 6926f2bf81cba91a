package job

import (
	"errors"
	"fmt"

	"locus/migrate/phase"
	"locus/router"
)

// Mirror returns the request to send a share of the moving genes' reads, in percent, also to the target and to
// compare the results. 0 stops it.
func Mirror(percent int) Order {
	return Order{
		Name: fmt.Sprintf("mirror: %d %% of the reads", percent), Change: func(j *Job) { j.Mirror = percent },
		Refuse: func(j *Job) error {
			switch {
			case j.State.Over():
				return errors.New("mirror: the move is over")
			case percent == 0:
				return nil
			}
			return j.mirrors()
		},
	}
}

// mirrors returns the reason why reads can't be mirrored now, or nil.
func (j *Job) mirrors() error {
	at := j.State.At()
	switch {
	case j.Import != nil:
		return errors.New("mirror: reads of an import's tables are of no gene before they are sharded: only a move between two shards can be mirrored")
	case j.BySequence:
		return errors.New("mirror: the rows of a gene that moves by sequence are read from both shards: only a move by gene can be mirrored")
	case !j.State.Copied || at == phase.CatchingUp:
		return fmt.Errorf("mirror: it is %s, and the target has not all rows yet: locus wait %s --for ready", j.State.Shown(), j.ID)
	case at == phase.Cut || at == phase.Retiring:
		return errors.New("mirror: all genes are at the target, whose answers the clients get")
	case at == phase.Aborting:
		return errors.New("mirror: it is aborted, and the target's rows are being deleted")
	}
	return nil
}

// mirrored returns the share of reads to mirror now.
func (j *Job) mirrored() int {
	if j.Mirror == 0 || j.State.Over() || j.mirrors() != nil {
		return 0
	}
	return j.Mirror
}

// Mirrored returns the map with the job's share of mirrored reads. It returns nil if the map need not change:
// it has that share already, or does not contain the job. It also returns nil during the fence of a step, which
// writes the share with its next map.
func (j *Job) Mirrored(m *router.Map) (*router.Map, error) {
	moves := m.Moves()
	for i, v := range moves {
		if v.Job != j.ID || v.Holds() || v.Mirror == j.mirrored() {
			continue
		}
		moves[i].Mirror = j.mirrored()
		return m.Step(moves)
	}
	return nil, nil
}
