package console

import "locus/migrate/phase"

// stage is one of the five stages of every move.
type stage struct {
	Name string `json:"name"`
	// State is done, now, waits (for an operator), paused, back, failed, or ahead.
	State string `json:"state"`
}

// stageNames lists the stages in order.
var stageNames = []string{"copy", "catch up", "verify", "cut over", "retire"}

// stageAt maps phases to stages. A phase in which a stage is complete, such as Ready or Cut, maps to the next stage.
var stageAt = map[phase.Phase]int{
	phase.Planned: 0, phase.Copying: 0, phase.CatchingUp: 1, phase.Verifying: 2, phase.Ready: 3, phase.Cutting: 3, phase.RollingBack: 3,
	phase.Cut: 4, phase.Retiring: 4, phase.Done: 5,
}

// stagesOf returns the progress of a move.
func stagesOf(s phase.State) []stage {
	at, known := stageAt[s.At()]
	if !known { // the job is being aborted, in any phase
		at = 0
		if s.Copied {
			at = 2
		}
	}
	list := make([]stage, len(stageNames))
	for i, name := range stageNames {
		list[i] = stage{name, "ahead"}
		switch {
		case i < at:
			list[i].State = "done"
		case i == at:
			list[i].State = stageNow(s)
		}
	}
	return list
}

func stageNow(s phase.State) string {
	switch s.Shown() {
	case phase.Failed:
		return "failed"
	case phase.Paused:
		return "paused"
	case phase.RollingBack, phase.Aborting, phase.Aborted:
		return "back"
	case phase.Ready, phase.Cut:
		return "waits"
	case phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Cutting, phase.Retiring, phase.Done, phase.Repairing:
	}
	return "now"
}
