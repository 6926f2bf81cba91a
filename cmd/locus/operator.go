package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
)

// operator is who runs this command, for journals and histories: LOCUS_OPERATOR,
// or else the user of this process.
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

// confirm asks before something that destroys or goes live.
func (in *invocation) confirm(question string) error {
	fmt.Fprintf(in.stderr, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in.stdin).ReadString('\n')
	if err != nil && answer == "" {
		return errors.New("nothing was changed: answer y, or say --yes")
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
