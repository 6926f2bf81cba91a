package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
)

// operator returns the name of the user for journals and histories: LOCUS_OPERATOR, or else the user of this
// process.
func (in *invocation) operator() string {
	if name := in.getenv("LOCUS_OPERATOR"); name != "" {
		return oneLine(name)
	}
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// addYes adds the flag --yes to a command. The command must call confirm before it destroys something, or
// changes the behaviour that applications see.
func (in *invocation) addYes(c *cobra.Command) {
	c.Flags().BoolVar(&in.yes, "yes", false, "don't ask")
}

// confirm asks the operator on the terminal whether to go on, unless --yes is given. Without a terminal it refuses, because the operator can't answer.
func (in *invocation) confirm(format string, args ...any) error {
	question := fmt.Sprintf(format, args...)
	switch {
	case in.yes:
		return nil
	case !in.terminal(in.stdin):
		return fmt.Errorf("nothing was changed: add --yes, since standard input is not a terminal on which to ask: %s", question)
	}
	fmt.Fprintf(in.stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in.stdin).ReadString('\n')
	if err != nil && answer == "" {
		return errors.New("nothing was changed: answer y, or add --yes")
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
