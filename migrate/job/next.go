package job

import (
	"strings"

	"locus/migrate/phase"
)

// Next is a command for which a job waits.
type Next struct {
	Command string
	Effect  string // a short description; empty if the command's name is clear enough
}

// Next returns the commands by which an operator can continue a waiting job, the most usual first. It returns
// none while the job works, and none after its end.
func (j *Job) Next() []Next {
	s := j.State
	resume := Next{"locus resume " + j.ID, "continues the job"}
	rollback := Next{"locus rollback " + j.ID, "hands the genes back to " + j.Source()}
	switch s.Shown() {
	case phase.Paused:
		return []Next{resume}
	case phase.Failed:
		if strings.Contains(s.Remedy, "locus ") { // the remedy already names a command, such as locus abort
			return nil
		}
		return []Next{resume}
	case phase.Ready:
		return []Next{{j.CutOverCommand(), ""}}
	case phase.Cutting, phase.RollingBack:
		if s.Cut != s.Wanted || s.Cut == 0 || s.Leaving {
			return nil
		}
		return []Next{{j.CutOverCommand(), ""}, rollback}
	case phase.Cut:
		return []Next{{"locus finish " + j.ID, "to " + j.Ending()}, rollback}
	case phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Retiring, phase.Done, phase.Aborting, phase.Aborted, phase.Repairing:
	}
	return nil
}

// CutOverCommand returns the command that hands everything over. If the job can hand over parts, the command
// does so in steps.
func (j *Job) CutOverCommand() string {
	command := "locus cutover " + j.ID + " --to 100%"
	if j.Import == nil && j.State.Total > 1 {
		command += " --step 5% --every 1m"
	}
	return command
}
