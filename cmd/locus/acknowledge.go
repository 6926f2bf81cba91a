package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/control/finding"
	"locus/control/ops"
	"locus/control/overview"
)

func findingsCommand(in *invocation) *cobra.Command {
	group := groupCommand("findings", "Acknowledge findings of locus doctor, list those that are, and withdraw one")
	group.AddCommand(findingsAcknowledgeCommand(in), findingsAcknowledgedCommand(in), findingsWithdrawCommand(in))
	return group
}

func findingsAcknowledgeCommand(in *invocation) *cobra.Command {
	r := ops.Acknowledge{}
	c := &cobra.Command{
		Use:   "acknowledge FINDING --why TEXT",
		Short: "Record that a finding is known and accepted, so that it does not count",
		Long: `Record that a finding is known and accepted, by whom and why. The finding is still
listed, and does not count: not in the exit status of status and doctor, in the
page's colour, or in the metrics. FINDING is the ID that locus doctor prints.

Advice can be acknowledged without an end. What is at risk takes --days, 90 at most.
An outage can't be acknowledged. A finding that becomes more severe counts again,
and so does one about something else: another place, key or error.`,
		Example: `  locus findings acknowledge 3f2a91c0d1 --why "the key is unique by the application"
  locus findings acknowledge 3f2a91c0d1 --why "the disk is replaced on Friday" --days 7`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				r.Finding = args[0]
				a, err := in.opsOf(conn).Acknowledge(command.Context(), r, in.operator())
				if err != nil {
					return err
				}
				return in.show(a, func(w io.Writer) { printAcknowledgement(w, a) })
			})
		},
	}
	c.Flags().StringVar(&r.Why, "why", "", "the `reason`, for the list")
	c.Flags().Float64Var(&r.Days, "days", 0, "the `number` of days after which the finding counts again; 0: never")
	_ = c.MarkFlagRequired("why")
	return c
}

func findingsAcknowledgedCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "acknowledged",
		Short:   "List the acknowledged findings: who, when, why and until when",
		Long:    "List the acknowledged findings with author, time, reason and end, the latest first.\nFindings that are gone are listed, too: their acknowledgement applies when they return.",
		Example: "  locus findings acknowledged\n  locus findings acknowledged -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withEtcd(func(conn *connection) error {
				all, err := finding.Acknowledged(command.Context(), conn.kv)
				if err != nil {
					return err
				}
				list := finding.List(all)
				return in.show(list, func(w io.Writer) {
					for _, a := range list {
						printAcknowledgement(w, a)
					}
					if len(list) == 0 {
						fmt.Fprintln(w, "no finding is acknowledged")
					}
				})
			})
		},
	}
}

func findingsWithdrawCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "withdraw FINDING",
		Short:   "Withdraw an acknowledgement, so that the finding counts again",
		Long:    "Withdraw the acknowledgement of a finding, so that it counts again.",
		Example: "  locus findings withdraw 3f2a91c0d1",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				a, err := in.opsOf(conn).Withdraw(command.Context(), ops.Withdraw{Finding: args[0]}, in.operator())
				if err != nil {
					return err
				}
				return in.show(a, func(w io.Writer) { fmt.Fprintf(w, "finding %s counts again\n", a.ID) })
			})
		},
	}
}

func printAcknowledgement(w io.Writer, a finding.Acknowledgement) {
	fmt.Fprintf(w, "%s  %s  %s, %s: %s\n  %s\n", a.ID, a.Severity.Words(), a.Where, a.Check, a.What, a)
}

// found returns a function for the findings of the cluster. With everything, it runs the slow checks. Otherwise
// it uses their latest report.
func (in *invocation) found(conn *connection, ask asking) func(context.Context) ([]finding.Finding, error) {
	return func(ctx context.Context) ([]finding.Finding, error) {
		c, err := declared.Current(ctx, conn.kv)
		if err != nil {
			return nil, err
		}
		seen, err := in.see(ctx, conn, c, ask)
		if err != nil {
			return nil, err
		}
		return overview.Of(seen).Findings, nil
	}
}
