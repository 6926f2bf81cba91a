package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locus/config/strict"
)

// suggest makes a wrong flag of any command name the one that may be meant. Where a command is misspelled, its flags are unknown to the
// group that it would belong to, and the command is reported.
func suggest(c *cobra.Command) {
	c.SetFlagErrorFunc(func(command *cobra.Command, err error) error {
		if args := command.Flags().Args(); command.HasAvailableSubCommands() && len(args) > 0 {
			return unknownCommand(command, args[0])
		}
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
		return fmt.Errorf("%w%s", err, strict.DidYouMean("--"+unknown.GetSpecifiedName(), names))
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
	near := strict.DidYouMean(name, names)
	for _, c := range parent.Root().Commands() { // it may be one of its own
		if parent.HasParent() && c.Name() == name {
			near = ": did you mean " + c.CommandPath() + "?"
		}
	}
	return misused("unknown command %q for %q%s", name, parent.CommandPath(), near)
}
