package main

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

// share is a percentage on the command line. Package ops checks its bounds.
type share float64

func (s *share) String() string { return strconv.FormatFloat(float64(*s), 'f', -1, 64) + "%" }
func (s *share) Type() string   { return "percent" }

// number returns the percentage for a request.
func (s *share) number() *float64 { return new(float64(*s)) }

// Set implements pflag.Value.
func (s *share) Set(text string) error {
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil {
		return errors.New("write a percentage like 25%")
	}
	*s = share(f)
	return nil
}

func cutoverCommand(in *invocation) *cobra.Command {
	const ask = "Job JOB: hand genes over from SOURCE to TARGET?"
	to, step := share(100), share(5)
	var every time.Duration
	var how sending
	var onBreach string
	c := &cobra.Command{
		Use:   "cutover JOB --to PERCENT",
		Short: "Hand a job's genes over to its target, in steps",
		Long: `Hand a job's genes over to its target, in their order, up to a share. With --every
there is a pause between two steps. The next step begins once a recent comparison
has found both shards equal.`,
		Example: `  locus cutover split-1 --to 25%
  locus cutover split-1 --to 100% --step 5% --every 1m --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.CutOver{OfJob: ops.OfJob{Job: args[0]}, Percent: to.number(), EverySeconds: every.Seconds(), OnBreach: ops.Breach(onBreach)}
			if command.Flags().Changed("step") {
				r.StepPercent = step.number()
			}
			return in.send(command.Context(), r, ask, how)
		},
	}
	c.Flags().Var(&to, "to", "the share that the target owns at the end")
	c.Flags().Var(&step, "step", "the share that one step hands over")
	c.Flags().DurationVar(&every, "every", 0, "the `time` between two steps")
	c.Flags().StringVar(&onBreach, "on-breach", string(ops.PauseOnBreach), "the `reaction` to a watched figure that gets worse: pause, step-back or roll-back")
	how.flags(in, c, ask)
	return c
}

func rollbackCommand(in *invocation) *cobra.Command {
	const ask = "Job JOB: hand genes back from TARGET to SOURCE?"
	to, step := share(0), share(100)
	var how sending
	c := &cobra.Command{
		Use:   "rollback JOB [--to PERCENT]",
		Short: "Hand genes back to a job's source",
		Example: `  locus rollback split-1
  locus rollback split-1 --to 20% --step 10% --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.RollBack{OfJob: ops.OfJob{Job: args[0]}, Percent: to.number(), StepPercent: step.number()}
			return in.send(command.Context(), r, ask, how)
		},
	}
	c.Flags().Var(&to, "to", "the share that stays at the target")
	c.Flags().Var(&step, "step", "the share that one step hands back")
	how.flags(in, c, ask)
	return c
}

func throttleCommand(in *invocation) *cobra.Command {
	var how sending
	c := &cobra.Command{
		Use:     "throttle JOB PERCENT",
		Short:   "Set the share of time for which copying, comparing and deleting of a job pause",
		Example: "  locus throttle split-1 50%",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			var rest share
			if err := rest.Set(args[1]); err != nil {
				return misused("%q: %w", args[1], err)
			}
			return in.send(command.Context(), ops.Throttle{OfJob: ops.OfJob{Job: args[0]}, Percent: rest.number()}, "", how)
		},
	}
	how.flags(in, c, "")
	return c
}
