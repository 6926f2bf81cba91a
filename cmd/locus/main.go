// Command locus is the product's only binary: the proxy, the demo, and the commands that read and change a
// cluster's declaration.
//
// It owns flags, wiring, signals and output. Commands that change something use compare-and-swap on etcd. It
// never decides where a row goes, and no other package imports it. Each command is in a file of its name.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/control/ops"
)

// The exit statuses.
const (
	done = iota
	failed
	wrongUse
	differs // of locus diff --exit-code
)

// foundAdvice is the first of the exit statuses of status and doctor: advice, at risk, outage.
const foundAdvice = 3

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], &invocation{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now, random: rand.Reader,
	})
	stop()
	os.Exit(status)
}

// run is the whole program without the process around it, for tests.
func run(ctx context.Context, args []string, in *invocation) int {
	root := newRoot(in)
	in.args = args
	if in.terminal == nil {
		in.terminal = isTerminal
	}
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = in.misled
	}
	switch {
	case err == nil:
		return done
	case errors.Is(err, errDiffers):
		return differs
	case errors.As(err, new(*foundError)):
		found, _ := errors.AsType[*foundError](err) // the findings were printed
		return found.status()
	case !in.began || errors.As(err, new(usageError)), errors.As(err, new(*ops.Invalid)):
		in.report(command, err, wrongUse)
		return wrongUse
	default:
		in.report(command, err, failed)
		return failed
	}
}

// problem is an error in the output for programs.
type problem struct {
	Error   string `json:"error"`
	Command string `json:"command"`
	Status  int    `json:"status"` // the exit status
}

// report prints an error: one line per problem, or the form for programs.
func (in *invocation) report(command *cobra.Command, err error, status int) {
	err = in.withConfigurationHint(err)
	if in.output != table {
		if text, encoding := in.encoded(problem{err.Error(), command.CommandPath(), status}); encoding == nil {
			_, _ = in.stderr.Write(text)
			return
		}
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(in.stderr, "locus:", strings.TrimRight(line, "\n"))
	}
	if status == wrongUse {
		fmt.Fprintf(in.stderr, "See '%s --help'.\n", command.CommandPath())
	}
}

// withConfigurationHint adds a remedy to an error whose cause may be a missing or wrong configuration: the
// configuration file that contains the addresses of etcd and the locations of the secrets.
func (in *invocation) withConfigurationHint(err error) error {
	missing := errors.As(err, new(*config.MissingSecret))
	switch {
	case missing && in.configFile != "":
		return fmt.Errorf("%w\nsecrets are where %s says; -c and LOCUS_CONFIG name another configuration", err, in.configFile)
	case missing:
		return fmt.Errorf("%w\nname the configuration of a process, which says where secrets are: -c locus.yaml, or export LOCUS_CONFIG=locus.yaml", err)
	case errors.Is(err, context.DeadlineExceeded) && !in.namesCluster() && !ops.IsLoginRefused(err):
		return fmt.Errorf("%w\nno cluster was named: -c locus.yaml, or export LOCUS_CONFIG=locus.yaml, as locus demo prints it", err)
	}
	return err
}

// usageError is an error in the way a command was called, found after parsing the flags.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func newRoot(in *invocation) *cobra.Command {
	root := &cobra.Command{
		DisableAutoGenTag: true, // man pages don't name the library that writes them
		Use:               "locus",
		Short:             "A MySQL proxy that shards by genes",
		Long: `locus is a MySQL proxy that spreads the rows of each owner over shards by a
gene, a hash that every ID carries. This binary is the proxy, a demo of
everything on one machine, and the commands that inspect and change a cluster.`,
		Example: `  locus demo
  locus serve -c locus.yaml
  locus get > cluster.yaml
  locus apply -f cluster.yaml --dry-run`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(command, args[0])
			}
			return command.Help()
		},
		PersistentPreRunE: func(command *cobra.Command, _ []string) error {
			if err := errors.Join(command.ValidateRequiredFlags(), command.ValidateFlagGroups()); err != nil {
				return err // the command has not begun, so it is a usage error
			}
			in.began = true
			return nil
		},
	}
	root.SetOut(in.stdout)
	root.SetErr(in.stderr)
	in.flags(root)
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, make := range g.commands {
			command := make(in)
			command.GroupID = g.title
			root.AddCommand(command)
		}
	}
	last := groups[len(groups)-1].title
	man := manCommand(in, newRoot)
	man.GroupID = last
	root.AddCommand(man)
	root.SetHelpCommandGroupID(last)
	root.SetCompletionCommandGroupID(last)
	in.suggest(root)
	in.completions(root)
	return root
}
