package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locus/config/strict"
)

// suggest makes every command suggest the probably intended name for a mistyped command, flag or argument.
func (in *invocation) suggest(root *cobra.Command) {
	root.SetFlagErrorFunc(in.flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if given := c.Flags().Args(); c.HasAvailableSubCommands() && len(given) > 0 {
			in.misled = unknownCommand(c, given[0])
			return
		}
		help(c, args)
	})
	explainArguments(root)
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Args = aboutACommand
		}
	}
}

// aboutACommand accepts the words of a command as arguments of help.
func aboutACommand(help *cobra.Command, words []string) error {
	c, rest, err := help.Root().Find(words)
	if err == nil && c.HasAvailableSubCommands() && len(rest) > 0 {
		return unknownCommand(c, rest[0])
	}
	return err
}

// flagError explains an unknown flag. If a subcommand is mistyped, or comes after its flags, the flags are
// unknown to its group. Then the subcommand is reported as the mistake.
func (in *invocation) flagError(c *cobra.Command, err error) error {
	if c.HasAvailableSubCommands() {
		if given := c.Flags().Args(); len(given) > 0 {
			return unknownCommand(c, given[0])
		}
		if found := in.commandAfterFlags(c, err); found != nil {
			return found
		}
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
	c.Flags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	return fmt.Errorf("%w%s", err, strict.DidYouMean("--"+unknown.GetSpecifiedName(), names))
}

// commandAfterFlags returns the word on the command line that is one of the group's commands, or similar to
// one.
func (in *invocation) commandAfterFlags(group *cobra.Command, err error) error {
	names := commandNames(group)
	depth := len(strings.Fields(group.CommandPath())) - 1
	for i, word := range in.args {
		switch {
		case i < depth || strings.HasPrefix(word, "-"):
		case slices.Contains(names, word):
			return misused("%w: write the flags of a command after its name: %s %s", err, group.CommandPath(), word)
		case strict.DidYouMean(word, names) != "" && len(word) > 2:
			return unknownCommand(group, word)
		}
	}
	return nil
}

func commandNames(group *cobra.Command) []string {
	var names []string
	for _, c := range group.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// unknownCommand returns the error for a command that does not exist. It suggests a command of another group
// with the same name, or one of the same group with a similar name.
func unknownCommand(parent *cobra.Command, name string) error {
	near := strict.DidYouMean(name, commandNames(parent))
	if same := namesakes(parent, name); len(same) > 0 {
		near = ": did you mean " + anyOf(same) + "?"
	}
	return misused("unknown command %q for %q%s", name, parent.CommandPath(), near)
}

// anyOf joins alternatives into a text.
func anyOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// namesakes returns the commands of that name in other places: next to the group, or, for the root, in its
// groups.
func namesakes(parent *cobra.Command, name string) []string {
	var paths []string
	for _, c := range parent.Root().Commands() {
		candidates := []*cobra.Command{c}
		if !parent.HasParent() {
			candidates = c.Commands()
		}
		for _, c := range candidates {
			if c.IsAvailableCommand() && strings.EqualFold(c.Name(), name) {
				paths = append(paths, c.CommandPath())
			}
		}
	}
	return paths
}

// explainArguments makes each command print its usage line if it is called with wrong arguments.
func explainArguments(c *cobra.Command) {
	for _, sub := range c.Commands() {
		explainArguments(sub)
	}
	if accept := c.Args; accept != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := accept(c, args); err != nil {
				return wrongArguments(c, args)
			}
			return nil
		}
	}
}

func wrongArguments(c *cobra.Command, args []string) error {
	for _, arg := range args {
		if len(c.ValidArgs) > 0 && !slices.Contains(c.ValidArgs, arg) {
			return misused("unknown argument %q: use %s%s", arg, anyOf(c.ValidArgs), strict.DidYouMean(arg, c.ValidArgs))
		}
	}
	form := strings.TrimSpace(c.Parent().CommandPath() + " " + c.Use)
	if len(args) == 0 {
		return misused("an argument is missing: %s", form)
	}
	return misused("%s given; the form is: %s", quantity(len(args), "argument"), form)
}
