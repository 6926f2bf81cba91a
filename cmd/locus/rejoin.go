package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/control/switchover"
	"locus/router"
)

func rejoinCommand(in *invocation) *cobra.Command {
	var save string
	rebuild := false
	c := &cobra.Command{
		Use:   "rejoin SHARD HOST:PORT",
		Short: "List and save the transactions that only one server has, and rebuild it",
		Long: `List the transactions that a server of a shard has and its primary never had, save them,
and print how the server can follow again. A former primary has such transactions if it
was lost before it could send them, or executed statements after another server was
promoted. No client received an OK for them.

The file can be read by mysqlbinlog and mariadb-binlog, and must not exist. Nothing is
changed without --rebuild. With it, a MySQL server is rebuilt from the primary by the
clone plug-in, and loses all its data. The account that changes roles needs BACKUP_ADMIN
and CLONE_ADMIN. For MariaDB, the command prints the steps.`,
		Example: `  locus rejoin s0 10.0.0.11:3306`,
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				if save == "" {
					save = fmt.Sprintf("errant-%s-%s-%s.binlog", args[0], strings.ReplaceAll(args[1], ":", "-"), in.now().UTC().Format("20060102T150405Z"))
				}
				return in.rejoin(command.Context(), in.opsOf(conn), ops.Rejoin{Shard: router.ShardName(args[0]), Server: args[1]}, save, rebuild)
			})
		},
	}
	c.Flags().StringVar(&save, "save", "", "the `file` to save them to (default: errant-SHARD-SERVER-TIME.binlog, here)")
	in.addYes(c)
	c.Flags().BoolVar(&rebuild, "rebuild", false, "rebuild the server; all its data is lost")
	return c
}

func (in *invocation) rejoin(ctx context.Context, o *ops.Ops, r ops.Rejoin, file string, rebuild bool) error {
	planned, err := o.PlanRejoin(ctx, r, in.operator())
	if err != nil {
		return err
	}
	e := planned.Errant
	if e.GTIDs == "" {
		fmt.Fprintf(in.stdout, "%s has no transactions that the primary %s never had: %s\n", e.Server, e.Primary, follows(r.Shard, e))
		return nil
	}
	fmt.Fprintf(in.stdout, "%s has transactions that the primary %s never had: %s\n", e.Server, e.Primary, e.GTIDs)
	if e.Unapplied != "" {
		fmt.Fprintf(in.stdout, "of these it has received and not applied, and they are not saved: %s\n", e.Unapplied)
	}
	list, err := saveErrant(ctx, planned, file)
	if err != nil {
		return fmt.Errorf("save them to %s: %w; nothing else was done", file, err)
	}
	in.printSaved(list)
	fmt.Fprintf(in.stdout, "saved to %s: %s shows them\n", file, viewer(e))
	if !rebuild {
		fmt.Fprint(in.stdout, steps(r.Shard, e))
		return nil
	}
	if err := in.confirm("Server %s: rebuild it from the primary %s? All its data is lost.", e.Server, e.Primary); err != nil {
		return fmt.Errorf("%w; its own transactions are saved", err)
	}
	switch err := planned.Rebuild(ctx); {
	case errors.Is(err, switchover.ErrEnded):
		fmt.Fprintf(in.stdout, "%s is rebuilt, and has stopped: start it, and %s\n", e.Server, follows(r.Shard, e))
	case err != nil:
		return fmt.Errorf("rebuild %s: %w", e.Server, err)
	default:
		fmt.Fprintf(in.stdout, "%s is rebuilt; once it is up again: %s\n", e.Server, follows(r.Shard, e))
	}
	return nil
}

// saveErrant writes the complete file, or leaves none.
func saveErrant(ctx context.Context, r *ops.Rejoining, file string) (list []ops.Saved, err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("it is there: name another one (--save): %w", err)
	}
	if err != nil {
		return nil, err
	}
	list, err = r.Save(ctx, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(file))
	}
	return list, nil
}

func (in *invocation) printSaved(list []ops.Saved) {
	rows := [][]string{{"GTID", "AT", "WHAT"}}
	for _, s := range list {
		what := slices.Clone(s.Statements)
		for _, table := range slices.Sorted(maps.Keys(s.Rows)) {
			what = append(what, fmt.Sprintf("%s of %s", quantity(s.Rows[table], "row"), table))
		}
		rows = append(rows, []string{s.GTID, s.At.Format(time.RFC3339), strings.Join(what, ", ")})
	}
	columns(in.stdout, rows)
}

// follows returns the steps that make a server without errant transactions follow the primary.
func follows(shard router.ShardName, e switchover.Errant) string {
	if e.Promotes {
		return "a process with the role mover makes it follow"
	}
	return fmt.Sprintf("locus switchover %s --to %s makes it follow", shard, e.Primary)
}

func viewer(e switchover.Errant) string {
	if e.MariaDB {
		return "mariadb-binlog -vv"
	}
	return "mysqlbinlog -vv"
}

// steps returns the steps that rebuild a server.
func steps(shard router.ShardName, e switchover.Errant) string {
	var b strings.Builder
	step := func(w io.Writer, format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }
	fmt.Fprintf(&b, "\nApply by hand at the primary what must not be lost. Then rebuild %s; last, %s:\n", e.Server, follows(shard, e))
	if !e.MariaDB {
		step(&b, "locus rejoin %s %s --save another.binlog --rebuild", shard, e.Server)
		return b.String()
	}
	step(&b, "on the machine of %s: mariadb-backup --backup --target-dir=/var/tmp/copy, then mariadb-backup --prepare --target-dir=/var/tmp/copy", e.Primary)
	step(&b, "on that of %s: stop it, empty its data directory, copy the backup there, mariadb-backup --move-back --target-dir=/var/tmp/copy", e.Server)
	step(&b, "start it read-only, with the GTID that the copy has in mariadb_backup_binlog_info (xtrabackup_binlog_info) in the place of GTID:")
	step(&b, "RESET MASTER; SET GLOBAL gtid_binlog_state = '%sGTID'; SET GLOBAL gtid_slave_pos = 'GTID'", e.Origins())
	return b.String()
}
