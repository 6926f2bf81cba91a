package job

import (
	"strings"

	"locus/migrate/phase"
)

// Next is a command that a job waits for.
type Next struct {
	Command string
	Effect  string // in a few words; empty if the command's name describes it
}

// Next returns the commands that an operator may give a job that doesn't go on by itself, the usual one first. It returns none while the
// job works, and when it is over.
func (j *Job) Next() []Next {
	s := j.State
	resume := Next{"locus resume " + j.ID, "continues the job"}
	rollback := Next{"locus rollback " + j.ID, "hands the genes back to " + j.Source()}
	switch s.Shown() {
	case phase.Paused:
		return []Next{resume}
	case phase.Failed:
		if strings.Contains(s.Remedy, "locus ") { // which names the command, such as locus abort
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

// CutOverCommand returns the command that hands everything over: in steps, where a job has parts to hand over.
func (j *Job) CutOverCommand() string {
	command := "locus cutover " + j.ID + " --to 100%"
	if j.Import == nil && j.State.Total > 1 {
		command += " --step 5% --every 1m"
	}
	return command
}
