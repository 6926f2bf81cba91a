package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryMistypedCommandIsRecognized mistypes the last word of every command, alone, with flags before and after it, and with a request
// for help.
func TestEveryMistypedCommandIsRecognized(t *testing.T) {
	none := func(string) string { return "" }
	root := newRoot(&invocation{getenv: none})
	root.InitDefaultCompletionCmd()
	ran := 0
	for _, c := range allCommands(root) {
		words := strings.Fields(c.CommandPath())[1:]
		last := len(words) - 1
		group, wrong := words[:last:last], words[last]+"q"
		for form, args := range map[string][]string{
			"alone":                    {wrong},
			"with an argument":         {wrong, "s0"},
			"before flags":             {wrong, "--from", "s0", "--yes", "-x"},
			"after a flag":             {"--dry-run=false", wrong},
			"after a flag and a value": {"--from", "s0", wrong},
			"with help":                {wrong, "--help"},
			"with help and flags":      {wrong, "-h", "--yes"},
		} {
			var out, errs strings.Builder
			status := run(t.Context(), append(group, args...), &invocation{stdout: &out, stderr: &errs, getenv: none})
			if want := "did you mean " + words[last] + "?"; status != wrongUse || !strings.Contains(errs.String(), want) || out.Len() > 0 {
				t.Errorf("%s, %s: status %d, %q is missing in\n%s%s", c.CommandPath(), form, status, want, errs.String(), out.String())
			}
			ran++
		}
	}
	if ran < 400 {
		t.Errorf("only %d command lines ran", ran)
	}
}

// allCommands returns the commands below one, groups included.
func allCommands(c *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			list = append(list, sub)
			list = append(list, allCommands(sub)...)
		}
	}
	return list
}
