package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"locus/control/backup"
)

func backupCommand(in *invocation) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "backup",
		Short: "Record a moment to which copies of all shards can be rolled forward",
		Long: `Record one moment of all shards in a file: the position of each shard's binary log, the
route map, and how far numbers are granted. The writes of all shards are paused meanwhile
(FLUSH TABLES WITH READ LOCK), usually for a few milliseconds. The command copies no
rows. Copy each shard before it, by mariadb-backup, the clone plug-in or snapshots, and
keep the binary logs from the copy to this moment. Copies of all shards that are rolled
forward to the moment contain each transaction as a whole.

A statement that runs for more than a second delays the lock. Writes continue then, and
the command tries again, up to 30 times, a second apart. It refuses while a job moves
rows. The account of the proxies needs RELOAD, or the shard needs an account for roles.`,
		Example: `  locus backup --save cut.json`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withEtcd(func(conn *connection) error {
				cut, err := in.taking(conn).Take(command.Context())
				if err != nil {
					return fmt.Errorf("note a moment of all shards: %w", err)
				}
				text, err := cut.Encode()
				if err == nil {
					err = writeNew(file, text)
				}
				if err != nil {
					return err
				}
				return in.show(cut, func(w io.Writer) {
					fmt.Fprintf(w, "%s: the moment of %s; writes waited for %d ms\n", file, quantity(len(cut.Shards), "shard"), cut.HeldMs)
				})
			})
		},
	}
	c.Flags().StringVar(&file, "save", "cut.json", "the `file` to write, which must not exist")
	return c
}

func restoreCommand(in *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Check whether restored shards are at the moment of a backup",
		Long: `Check whether restored shards are at the moment that locus backup has written to a file.
The command lists the transactions by which each shard must still be rolled forward,
transactions that it must not have, genes that are on another shard than at that moment,
and counters in etcd that would issue numbers of existing rows again. It changes nothing.
Start proxies only if there are no findings.

The exit status is 0 without findings, and 1 otherwise.`,
		Example: `  locus restore cut.json`,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			text, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			cut, err := backup.Decode(text)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return in.withEtcd(func(conn *connection) error {
				found, err := in.taking(conn).Compare(command.Context(), cut)
				if err != nil {
					return err
				}
				if err := in.show(found, func(w io.Writer) {
					for _, f := range found {
						fmt.Fprintf(w, "%s: %s\n  remedy: %s\n", f.Where, f.What, f.Remedy)
					}
				}); err != nil {
					return err
				}
				if len(found) > 0 {
					return errors.New(quantity(len(found), "finding") + ": let no proxy run yet")
				}
				if in.output == table {
					fmt.Fprintf(in.stdout, "%s are as they were at %s\n", quantity(len(cut.Shards), "shard"), cut.At.Format("2006-01-02 15:04:05 MST"))
				}
				return nil
			})
		},
	}
	return c
}

func (in *invocation) taking(conn *connection) backup.Taking {
	return backup.Taking{KV: conn.kv, Name: conn.config.Cluster, Secrets: conn.config.Secrets.Lookup, Now: in.now}
}

// writeNew writes a new file. It fails if the file exists.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another file (--save)", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
