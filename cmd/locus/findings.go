package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/finding"
)

// exitStatuses explains the exit statuses of status and doctor.
const exitStatuses = `The exit status is 0 if there is no finding, or only acknowledged ones; 3 if the
worst finding is advice, 4 if something is at risk, 5 in an outage; and 1 if the
state could not be found out. --fail-on at-risk makes it 0 for advice, too.`

// foundError makes the severity of findings the exit status.
type foundError struct{ finding.Summary }

func (e *foundError) Error() string { return e.Summary.String() }

// status returns the exit status.
func (e *foundError) status() int { return foundAdvice + int(e.Severity-finding.Advice) }

// addFailOn adds the flag that chooses the severities with an exit status of their own.
func (in *invocation) addFailOn(c *cobra.Command) {
	in.failOn = finding.Advice
	c.Flags().Var(&failOn{&in.failOn}, "fail-on", "exit with 0 below this severity: advice, at-risk or outage")
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]string{"advice", "at-risk", "outage"}, cobra.ShellCompDirectiveNoFileComp))
}

// failOn is the value of the flag.
type failOn struct{ *finding.Severity }

func (f *failOn) Type() string { return "severity" }

// Set implements pflag.Value.
func (f *failOn) Set(text string) (err error) {
	*f.Severity, err = finding.Parse(text)
	return err
}

// judged returns a *foundError if the findings are severe enough.
func (in *invocation) judged(s finding.Summary) error {
	if s.Severity == finding.None || s.Severity < in.failOn {
		return nil
	}
	return &foundError{s}
}

// The colours of severities on a terminal: those of the page.
var colours = map[finding.Severity]string{finding.None: "32", finding.Advice: "34", finding.AtRisk: "33", finding.Outage: "31"}

// paint returns a text in the colour of a severity, if it is printed on a terminal.
func (in *invocation) paint(s finding.Severity, text string) string {
	if in.getenv("NO_COLOR") != "" || !in.terminal(in.stdout) {
		return text
	}
	return "\x1b[1;" + colours[s] + "m" + text + "\x1b[0m"
}

// printFindings prints findings in the order in which they are given.
func (in *invocation) printFindings(w io.Writer, list []finding.Finding) {
	for _, f := range list {
		label := strings.ToUpper(f.Severity.Words())
		if f.Severity == finding.Advice {
			label = f.Severity.Words()
		}
		if !f.Open() {
			label = "acknowledged " + f.Severity.Words()
		}
		fmt.Fprintf(w, "%s  %s, %s: %s\n", in.paint(shown(f), label), f.Where, f.Check, f.What)
		if f.Expect != "" {
			fmt.Fprintf(w, "  %s\n", f.Expect)
		}
		fmt.Fprintf(w, "  remedy: %s\n", f.Remedy)
		if f.Severity < finding.Outage {
			fmt.Fprintf(w, "  id: %s\n", f.ID)
		}
		for i, c := range f.Consequences {
			if i == 0 {
				fmt.Fprintln(w, "  consequences:")
			}
			fmt.Fprintf(w, "    %s, %s: %s\n      remedy: %s\n", c.Where, c.Check, c.What, c.Remedy)
		}
		if f.Acknowledged != nil {
			fmt.Fprintf(w, "  %s\n", f.Acknowledged)
		}
	}
}

// shown returns the severity whose colour a finding has.
func shown(f finding.Finding) finding.Severity {
	if !f.Open() {
		return finding.None
	}
	return f.Severity
}
