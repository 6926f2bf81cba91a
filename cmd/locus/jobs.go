package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/control/jobs"
	"locus/control/ops"
	"locus/control/watch"
	"locus/idgen/cipher"
)

func jobsCommand(in *invocation) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "jobs [JOB]",
		Short: "List the jobs, or show one with its journal",
		Long: `List the jobs, or show one with its journal. The list contains the running jobs,
the commands that they wait for, and the last five that ended. --all lists every job.
With -o json or yaml, the list is always complete.`,
		Example: `  locus jobs
  locus jobs --all
  locus jobs split-1 -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withJobs(func(store *jobs.Store) error {
				if len(args) == 1 {
					return in.printJob(command.Context(), store, args[0])
				}
				return in.printJobs(command.Context(), store, all)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list all that have ended, too")
	return c
}

// withJobs opens the store of jobs for one command.
func (in *invocation) withJobs(do func(*jobs.Store) error) error {
	return in.withEtcd(func(conn *connection) error { return do(in.jobsOf(conn)) })
}

// jobsOf returns the store of jobs. Changes are recorded under the user of this command.
func (in *invocation) jobsOf(conn *connection) *jobs.Store {
	return jobs.New(conn.kv, in.operator(), conn.config.Secrets.Lookup)
}

func (in *invocation) printJobs(ctx context.Context, store *jobs.Store, all bool) error {
	list, err := store.Jobs(ctx)
	if err != nil {
		return err
	}
	if list == nil {
		list = []*ops.Job{}
	}
	return in.show(list, func(w io.Writer) {
		shown := list
		if !all {
			shown = lately(list)
		}
		rows := [][]string{{"JOB", "PHASE", "AT TARGET", "FROM", "TO", "GENES", "BY", "SINCE"}}
		for _, j := range shown {
			rows = append(rows, []string{
				j.ID, string(j.State.Shown()), watch.Percent(j.State.Percent()), string(j.From), j.Target(),
				j.Moved(), j.By, stamped(j.Created),
			})
		}
		columns(w, rows)
		printNext(w, shown)
		if left := len(list) - len(shown); left > 0 {
			fmt.Fprintf(w, "\n%s ended earlier: locus jobs --all\n", quantity(left, "job"))
		}
	})
}

// pastShown is the number of ended jobs that are listed without --all.
const pastShown = 5

// lately drops all ended jobs except the most recent ones.
func lately(list []*ops.Job) []*ops.Job {
	var past []*ops.Job
	for _, j := range list {
		if j.State.Over() {
			past = append(past, j)
		}
	}
	slices.SortStableFunc(past, func(a, b *ops.Job) int { return changed(a).Compare(changed(b)) })
	old := past[:max(0, len(past)-pastShown)]
	return slices.DeleteFunc(slices.Clone(list), func(j *ops.Job) bool { return slices.Contains(old, j) })
}

// changed returns the time of a job's last journal entry.
func changed(j *ops.Job) time.Time { return j.Journal[len(j.Journal)-1].At }

// printNext prints the commands that the jobs wait for.
func printNext(w io.Writer, list []*ops.Job) {
	head := "\n"
	for _, j := range list {
		if next := commandsFor(j); next != "" {
			fmt.Fprintf(w, "%sjob %s is %s; %s\n", head, j.ID, j.State.Shown(), next)
			head = ""
		}
	}
}

// commandsFor returns a line with the commands for which a job waits, or "" if it waits for none.
func commandsFor(j *ops.Job) string {
	var commands []string
	for _, next := range j.Next() {
		commands = append(commands, next.Command)
	}
	if commands == nil {
		return ""
	}
	return "next: " + strings.Join(commands, ", or ")
}

func (in *invocation) printJob(ctx context.Context, store *jobs.Store, id string) error {
	s, err := store.Read(ctx, id)
	if err != nil {
		return err
	}
	seen, _, err := (&watch.Watcher{Source: store, Only: id, Mirrored: store.Mirrored}).Look(ctx)
	if err != nil {
		return err
	}
	shown := shownJob{Job: s.Job}
	for _, one := range seen {
		if one.Job.Mirror > 0 && !one.Job.State.Over() {
			shown.mirrored = &one.Mirror
		}
	}
	return in.show(shown, func(w io.Writer) {
		for _, one := range seen {
			fmt.Fprint(w, watch.Canvas{}.Draw(one, in.now()))
		}
		fmt.Fprintln(w, "journal:")
		for _, e := range s.Job.Journal {
			fmt.Fprintf(w, "  %s  %s  %s\n", e.At.UTC().Format("15:04:05.000"), e.By, e.What)
		}
	})
}

// shownJob is a job in the output for programs: its record, and the results of its mirrored reads.
type shownJob struct {
	*ops.Job
	mirrored *ops.MirrorReport // nil if no reads are mirrored
}

// MarshalJSON adds the results to the fields of the record.
func (s shownJob) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(s.Job)
	if err != nil || s.mirrored == nil {
		return text, err
	}
	more, err := json.Marshal(map[string]*ops.MirrorReport{"mirrored": s.mirrored})
	return slices.Concat(text[:len(text)-1], []byte(","), more[1:]), err
}

// jobRequest is a command of the command line that sends a command to a job.
type jobRequest struct {
	use, short, example string
	ask                 string              // the question before it; empty for none
	mustConfirm         func(*ops.Job) bool // reports whether a job requires the question; nil if every job does
	of                  func(ops.OfJob) ops.Command
}

// sending configures how a command is sent.
type sending struct {
	dryRun      bool
	mustConfirm func(*ops.Job) bool // reports whether a job requires the question; nil if every job does
}

func (v *sending) flags(in *invocation, c *cobra.Command, ask string) {
	c.Flags().BoolVar(&v.dryRun, "dry-run", false, "print the command and whether the job accepts it; write nothing")
	if ask != "" {
		in.addYes(c)
	}
}

func (in *invocation) jobCommand(r jobRequest) *cobra.Command {
	how := sending{mustConfirm: r.mustConfirm}
	c := &cobra.Command{
		Use: r.use, Short: r.short, Example: r.example, Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.send(command.Context(), r.of(ops.OfJob{Job: args[0]}), r.ask, how)
		},
	}
	how.flags(in, c, r.ask)
	return c
}

// opsOf returns the operations on behalf of the user of this command.
func (in *invocation) opsOf(conn *connection) *ops.Ops {
	return ops.New(ops.Config{
		Random: in.random, KeyRing: ringOf(conn.config),
		KV: conn.kv, Jobs: in.jobsOf(conn), Secrets: conn.config.Secrets.Lookup, Connect: conn.config.Backends.ConnectTimeout.Std(), Now: in.now,
		Findings: in.found(conn, everything),
	})
}

// ringOf returns the function that reads the key ring of the configuration; nil if it names none.
func ringOf(c *config.Config) func() (*cipher.Ring, error) {
	if c.KeyRing == "" {
		return nil
	}
	return func() (*cipher.Ring, error) { return cipher.Load(c.KeyRing) }
}

// send sends a command to a job, after a confirmation. The text of the question contains placeholders for the
// job, its source, its target, its ending and the command.
func (in *invocation) send(ctx context.Context, c ops.Command, ask string, how sending) error {
	return in.withEtcd(func(conn *connection) error {
		o := in.opsOf(conn)
		if how.dryRun {
			next, err := o.PlanCommand(ctx, c, in.operator())
			if err != nil {
				return err
			}
			return in.showTold(next, "dry run: nothing was written")
		}
		asked := ask == ""
		next, err := o.Send(ctx, c, in.operator(), func(j *ops.Job, command string) error {
			if asked || how.mustConfirm != nil && !how.mustConfirm(j) {
				return nil
			}
			asked = true
			return in.confirm("%s", strings.NewReplacer("JOB", j.ID, "SOURCE", j.Source(), "TARGET", j.Target(), "ENDING", j.Ending(), "COMMAND", command).Replace(ask))
		})
		if err != nil {
			return err
		}
		return in.showTold(next, "")
	})
}

func (in *invocation) showTold(next *ops.Job, more string) error {
	return in.show(next, func(w io.Writer) {
		fmt.Fprintf(w, "job %s: %s\n", next.ID, next.Journal[len(next.Journal)-1].What)
		if more != "" {
			fmt.Fprintln(w, more)
		}
	})
}

func pauseCommand(in *invocation) *cobra.Command {
	return in.jobCommand(jobRequest{
		use: "pause JOB", short: "Pause a job, which then only keeps both shards equal", example: "  locus pause split-1",
		of: func(j ops.OfJob) ops.Command { return ops.Pause{OfJob: j} },
	})
}

func resumeCommand(in *invocation) *cobra.Command {
	return in.jobCommand(jobRequest{
		use: "resume JOB", short: "Resume a job that is paused or has failed", example: "  locus resume split-1",
		ask:         "Job JOB: resume it? Genes change hands between SOURCE and TARGET again.",
		mustConfirm: ops.HandsOver,
		of:          func(j ops.OfJob) ops.Command { return ops.Resume{OfJob: j} },
	})
}

func finishCommand(in *invocation) *cobra.Command {
	return in.jobCommand(jobRequest{
		use: "finish JOB", short: "Finish a job whose genes are all at the target: delete the source's rows",
		example: "  locus finish split-1",
		ask:     "Job JOB: ENDING? Afterwards only another job can move the genes back.",
		of:      func(j ops.OfJob) ops.Command { return ops.Finish{OfJob: j} },
	})
}

func abortCommand(in *invocation) *cobra.Command {
	return in.jobCommand(jobRequest{
		use: "abort JOB", short: "Abort a job: return everything to the source, and delete the target's rows",
		example: "  locus abort split-1",
		ask:     "Job JOB: abort it, return everything to SOURCE, and delete the copies on TARGET?",
		of:      func(j ops.OfJob) ops.Command { return ops.Abort{OfJob: j} },
	})
}
