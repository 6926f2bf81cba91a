package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// farthest is how many letters may differ of what somebody meant.
func farthest(name string) int { return min(2, (len(name)+1)/3) }

// suggest has a wrong flag of any command name the one that may be meant.
func suggest(c *cobra.Command) {
	c.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		unknown, is := errors.AsType[*pflag.NotExistError](err)
		if !is || len(unknown.GetSpecifiedName()) < 2 {
			return err
		}
		var names []string
		add := func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		}
		command.Flags().VisitAll(add)
		command.InheritedFlags().VisitAll(add)
		return fmt.Errorf("%w%s", err, didYouMean("--"+unknown.GetSpecifiedName(), names))
	})
}

// unknownCommand is wrong use, and names what may be meant.
func unknownCommand(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	near := didYouMean(name, names)
	for _, c := range parent.Root().Commands() { // it may be one of its own
		if parent.HasParent() && c.Name() == name {
			near = ": did you mean " + c.CommandPath() + "?"
		}
	}
	return misused("unknown command %q for %q%s", name, parent.CommandPath(), near)
}

// didYouMean ends a sentence by the name that is nearest; it is empty if none is near.
func didYouMean(name string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	best := slices.MinFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(distance(name, a), distance(name, b)), cmp.Compare(a, b))
	})
	if d := distance(name, best); d == 0 || d > farthest(name) || d >= len(best) {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance is how many letters must be put in, left out, changed or swapped with their
// neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
