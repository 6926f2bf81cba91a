package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// groupCommand returns a command that has only subcommands. Calling it without one is a usage error.
func groupCommand(name, short string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(command, args[0])
			}
			return misused("%s needs a command: %s", command.CommandPath(), anyOf(commandNames(command)))
		},
	}
}

// prefixed adds a file's name in front of each of its problems.
func prefixed(name string, err error) error {
	var problems []error
	for line := range strings.Lines(err.Error()) {
		problems = append(problems, fmt.Errorf("%s: %s", name, strings.TrimRight(line, "\n")))
	}
	return errors.Join(problems...)
}
