package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/migrate/job"
)

// share is a percentage on the command line.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'f', -1, 64) + "%" }
func (s *share) Type() string   { return "percent" }

// Set implements pflag.Value.
func (s *share) Set(text string) error {
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil || f < 0 || f > 100 {
		return errors.New("write a percentage like 25%")
	}
	*s = share(f)
	return nil
}

func cutoverCommand(in *invocation) *cobra.Command {
	const ask = "Job %[1]s: hand genes over from %[2]s to %[3]s?"
	to, step := share(100), share(5)
	var every time.Duration
	var how telling
	var onBreach string
	c := &cobra.Command{
		Use:   "cutover JOB --to PERCENT",
		Short: "Hand genes over to a move's target, in steps",
		Long: `Hand genes over to a move's target: the first of them, in order, up to a share.
With --every it rolls, one step at a time; the next one begins when both shards
are equal, and that was seen not long ago.`,
		Example: `  locus cutover split-1 --to 25%
  locus cutover split-1 --to 100% --step 5% --every 1m --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			switch job.Breach(onBreach) {
			case job.PauseThen, job.StepBack, job.BackToNil:
			default:
				return misused("--on-breach %q: use pause, step-back or roll-back", onBreach)
			}
			if !command.Flags().Changed("step") && every == 0 {
				step = 100 // at once
			}
			order := job.CutOver(float64(to), float64(step), every, job.Breach(onBreach))
			return in.withJobs(func(store *jobs.Store) error { return in.tell(command.Context(), store, args[0], order, ask, how) })
		},
	}
	c.Flags().Var(&to, "to", "how much is to be at the target")
	c.Flags().Var(&step, "step", "how much one step hands over")
	c.Flags().DurationVar(&every, "every", 0, "the `time` between two steps")
	c.Flags().StringVar(&onBreach, "on-breach", string(job.PauseThen), "the `reaction` to a watched figure that gets worse: pause, step-back or roll-back")
	how.flags(in, c, ask)
	return c
}

func rollbackCommand(in *invocation) *cobra.Command {
	const ask = "Job %[1]s: hand genes back from %[3]s to %[2]s?"
	to, step := share(0), share(100)
	var how telling
	c := &cobra.Command{
		Use:   "rollback JOB [--to PERCENT]",
		Short: "Hand genes back to a move's source",
		Example: `  locus rollback split-1
  locus rollback split-1 --to 20% --step 10% --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			order := job.Back(float64(to), float64(step))
			return in.withJobs(func(store *jobs.Store) error { return in.tell(command.Context(), store, args[0], order, ask, how) })
		},
	}
	c.Flags().Var(&to, "to", "how much is to stay at the target")
	c.Flags().Var(&step, "step", "how much one step hands back")
	how.flags(in, c, ask)
	return c
}

func throttleCommand(in *invocation) *cobra.Command {
	var how telling
	c := &cobra.Command{
		Use:     "throttle JOB PERCENT",
		Short:   "Set the share of time for which a move's copying, comparing and deleting pause",
		Example: "  locus throttle split-1 50%",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			var rest share
			if err := rest.Set(args[1]); err != nil || rest > job.MostRest {
				return misused("%q: write a percentage from 0%% to 95%%", args[1])
			}
			return in.withJobs(func(store *jobs.Store) error {
				return in.tell(command.Context(), store, args[0], job.Throttle(int(rest)), "", how)
			})
		},
	}
	how.flags(in, c, "")
	return c
}
