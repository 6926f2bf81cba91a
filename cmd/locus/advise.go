package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/advise"
	"locus/router/cluster"
	"locus/router/endpoint"
)

// adviceTimeout limits all queries to the server. The largest schemas take seconds.
const adviceTimeout = 5 * time.Minute

// advising holds the parameters of one call of the command.
type advising struct {
	in                        *invocation
	from, tls, database       string
	stdin                     bool
	slow, general, statements []string
	digests                   bool
	proposal, write           string
	options                   advise.Options
	resized                   bool // --shards was given
	workload                  *advise.Workload
}

func adviseCommand(in *invocation) *cobra.Command {
	a := &advising{in: in, workload: advise.NewWorkload()}
	c := &cobra.Command{
		Use:   "advise [--from USER@HOST:PORT]",
		Short: "Propose how the tables of a server could be sharded",
		Long: `Read the schema and the statements of an ordinary MySQL or MariaDB server, and propose
how its tables could be sharded: by which owner, which tables are global, which columns
are to be added, and which unique keys need the owner. Every statement is then planned as
the proxies would plan it under the proposal, so the report shows how many statements
run on one shard, how many need several, and which are refused, with the reasons. It ends
with the steps and declarations. Nothing is changed, neither on the server nor in a
cluster.

The statements are the digests of performance_schema, unless files are given: slow logs,
general logs, or files of statements that end with semicolons. Files may be compressed by
gzip. The account needs SELECT, SHOW VIEW, TRIGGER and EVENT on the application's databases,
and SELECT on performance_schema.

--write writes the proposal to a file. Edit it, and see with --proposal what that changes.

Without --from, the statements are those that the proxies of the cluster have counted.
The declared tables stay as they are, and the report shows which statements need all
shards, how often in a day, and which other tables could be sharded or made global.`,
		Example: `  locus advise --from locus@10.0.0.9:3306
  locus advise --from locus@10.0.0.9:3306 --slow-log slow.log --shards 8
  locus advise --from locus@10.0.0.9:3306 --write proposal.yaml
  locus advise --from locus@10.0.0.9:3306 --proposal proposal.yaml -o json
  locus advise -c locus.yaml`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			a.resized = command.Flags().Changed("shards")
			return a.run(command.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&a.from, "from", "", "the server, as `user@host:port`")
	f.BoolVar(&a.stdin, "password-stdin", false, "read the password from standard input, one line, and don't ask")
	f.StringVar(&a.tls, "tls", string(endpoint.TLSOff), "how the connection is protected: off, on or verify, as a `word`")
	f.StringVar(&a.database, "database", "", "the current `database` of statements in files that don't name one")
	f.StringArrayVar(&a.slow, "slow-log", nil, "a `file` that is a slow log")
	f.StringArrayVar(&a.general, "general-log", nil, "a `file` that is a general log")
	f.StringArrayVar(&a.statements, "statements", nil, "a `file` of statements")
	f.BoolVar(&a.digests, "digests", false, "read performance_schema in addition to the files")
	f.IntVar(&a.options.Shards, "shards", 4, "the `number` of shards that the proposal is for")
	f.BoolVar(&a.options.KeepColumns, "keep-columns", false, "propose no new columns")
	f.BoolVar(&a.options.ScatterWrites, "scatter-writes", false, "plan for a user with scatter_writes: allow")
	f.StringVar(&a.proposal, "proposal", "", "evaluate the proposal in this `file`, instead of looking for one")
	f.StringVar(&a.write, "write", "", "write the proposal to this `file`, which must not exist")
	_ = c.RegisterFlagCompletionFunc("tls", cobra.FixedCompletions(outsideTLS, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"slow-log", "general-log", "statements", "proposal", "write"} {
		_ = c.MarkFlagFilename(flag)
	}
	return c
}

func (a *advising) run(ctx context.Context) error {
	at := strings.LastIndexByte(a.from, '@')
	switch {
	case a.from == "" && a.in.namesCluster():
		return a.onCluster(ctx)
	case a.from == "":
		return misused("name the server: --from user@host:port, or a cluster: -c locus.yaml")
	case at < 1 || !strings.Contains(a.from[at:], ":"):
		return misused("--from %q: write it as user@host:port", a.from)
	case !slices.Contains(outsideTLS, a.tls):
		return misused("--tls %s: off, on or verify", a.tls)
	case a.options.Shards < 2 || a.options.Shards > 256:
		return misused("--shards %d: from 2 to 256", a.options.Shards)
	}
	password, err := a.password()
	if err != nil {
		return err
	}
	server, err := advise.Open(cluster.Shard{Address: a.from[at+1:], User: a.from[:at], TLS: cluster.TLS(a.tls)}, password)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, adviceTimeout, fmt.Errorf("%s did not answer all questions within %v; nothing was changed: try again, or name files with --slow-log, --general-log or --statements", a.from, adviceTimeout))
	defer cancel()
	defer server.Close(ctx)
	return a.advise(ctx, server)
}

// onCluster advises on the statements that the proxies of a cluster have counted.
func (a *advising) onCluster(ctx context.Context) error {
	if len(a.slow)+len(a.general)+len(a.statements) > 0 || a.proposal != "" || a.write != "" || a.digests {
		return misused("of a cluster, what its proxies have counted is read: leave out --slow-log, --general-log, --statements, --digests, --proposal and --write, or name a server with --from")
	}
	return a.in.withCluster(ctx, func(conn *connection, _ *cluster.Cluster) error {
		c, s, err := a.in.opsOf(conn).Counted(ctx, a.workload)
		if err != nil {
			return err
		}
		a.options.Cluster, a.options.Shards = advise.NewCluster(c), max(2, len(c.Routes.Shards()))
		return a.print(s)
	})
}

// password returns the account's password, which may be empty.
func (a *advising) password() (string, error) {
	if a.stdin {
		return oneLineOf(a.in.stdin)
	}
	terminal, err := a.in.keyboard()
	if err != nil {
		return "", err
	}
	return a.in.typed(terminal, "Password of "+a.from+": ")
}

func (a *advising) advise(ctx context.Context, server *advise.Server) error {
	s, err := advise.ReadSchema(ctx, server)
	if err != nil {
		return err
	}
	if err := a.read(ctx, server); err != nil {
		return err
	}
	return a.print(s)
}

// print makes a proposal for the schema and prints it.
func (a *advising) print(s *advise.Schema) error {
	proposal, err := a.proposed(s)
	if err != nil {
		return err
	}
	if err := a.save(proposal); err != nil {
		return err
	}
	report, err := advise.Evaluate(s, a.workload, proposal, a.options)
	if err != nil {
		return err
	}
	return a.in.show(report, func(w io.Writer) {
		report.Print(w)
		if a.write != "" {
			fmt.Fprintf(w, "\nthe proposal is in %s: edit it, and evaluate it with --proposal %[1]s\n", a.write)
		}
	})
}

// read reads the statements.
func (a *advising) read(ctx context.Context, server *advise.Server) error {
	files := 0
	for _, source := range []struct {
		format advise.Format
		paths  []string
	}{{advise.SlowLog, a.slow}, {advise.GeneralLog, a.general}, {advise.Statements, a.statements}} {
		for _, path := range source.paths {
			files++
			if err := a.readFile(path, source.format); err != nil {
				return err
			}
		}
	}
	if files > 0 && !a.digests {
		return nil
	}
	return a.workload.ReadDigests(ctx, server, server.Address)
}

func (a *advising) readFile(path string, format advise.Format) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return a.workload.Read(file, format, a.database, path)
}

// proposed returns the proposal in the given file, or otherwise the best one that was found.
func (a *advising) proposed(s *advise.Schema) (*advise.Proposal, error) {
	if a.proposal == "" {
		return advise.Propose(s, a.workload, a.options)
	}
	text, err := os.ReadFile(a.proposal)
	if err != nil {
		return nil, err
	}
	proposal, err := advise.ReadProposal(text, s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.proposal, err)
	}
	if a.resized {
		proposal.Shards = a.options.Shards
	}
	return proposal, nil
}

// save writes the proposal to a new file.
func (a *advising) save(p *advise.Proposal) error {
	if a.write == "" {
		return nil
	}
	text, err := p.YAML()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(a.write, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
