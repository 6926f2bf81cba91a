// Command locus is the product's one binary: the proxy, the demo, and the
// commands that read and change what a cluster declares.
//
// It owns flags, wiring, signals and what is printed; the commands that change
// something are compare-and-swaps on etcd. It never decides where a row goes,
// and no other package imports it. Each command is in a file of its name.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	done = iota
	failed
	wrongUse
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], &invocation{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now,
	})
	stop()
	os.Exit(status)
}

// run is the whole program but for its process.
func run(ctx context.Context, args []string, in *invocation) int {
	root := newRoot(in)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return done
	case !in.began || errors.As(err, new(usageError)):
		report(in.stderr, err)
		fmt.Fprintf(in.stderr, "See '%s --help'.\n", command.CommandPath())
		return wrongUse
	default:
		report(in.stderr, err)
		return failed
	}
}

// report prints one line per problem.
func report(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(w, "locus:", strings.TrimRight(line, "\n"))
	}
}

// usageError is an error in how a command was called, found after its flags
// were read.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func newRoot(in *invocation) *cobra.Command {
	root := &cobra.Command{
		Use:   "locus",
		Short: "A MySQL proxy that shards by genes",
		Long: `locus is a MySQL proxy that spreads the rows of each owner over shards by a
gene, a hash that every ID carries. This binary is the proxy, a demo of
everything on one machine, and the commands that look at and change a cluster.`,
		Example: `  locus demo
  locus serve -c locus.yaml
  locus get > cluster.yaml
  locus apply -f cluster.yaml --dry-run`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(command *cobra.Command, _ []string) error { return command.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			in.began = true
		},
	}
	root.SetOut(in.stdout)
	root.SetErr(in.stderr)
	in.flags(root)
	for _, command := range []func(*invocation) *cobra.Command{
		demoCommand, serveCommand, applyCommand, getCommand, diffCommand, routesCommand, proxiesCommand,
		generatorsCommand, hotCommand, splitCommand, mergeCommand, rebalanceCommand, jobsCommand, watchCommand, waitCommand, cutoverCommand, rollbackCommand, pauseCommand, resumeCommand,
		throttleCommand, verifyCommand, finishCommand, abortCommand,
		doctorCommand, geneCommand, idCommand, keysCommand, explainCommand, configCommand, versionCommand,
	} {
		root.AddCommand(command(in))
	}
	in.completions(root)
	return root
}
