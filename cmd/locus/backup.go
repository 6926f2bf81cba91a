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
		Short: "Note one moment of all shards, that copies of them can be brought to",
		Long: `Note one moment of all shards: for that long, mostly a few milliseconds, the writes of
all shards wait (FLUSH TABLES WITH READ LOCK), and where each is, which shard has which
genes and how far numbers were granted is written to a file. No row is copied: that is
done before by mariadb-backup, the clone plug-in, snapshots or what you have, as
long as the binary logs between the two are kept. A copy of each shard, rolled forward to
the file's moment, is a cluster without halves of transactions.

A statement that runs for longer than a second keeps a server from being held: writes go on
then, and it is tried again, 30 times, a second apart. While a job moves rows nothing is noted.
The account of the proxies needs RELOAD, or the shard an account for roles.`,
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
					fmt.Fprintf(w, "%s: where %s are, writes waited for %d ms\n", file, quantity(len(cut.Shards), "shard"), cut.HeldMs)
				})
			})
		},
	}
	c.Flags().StringVar(&file, "save", "cut.json", "the `file` to write; one that is there is not written over")
	return c
}

func restoreCommand(in *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Tell what restored shards still need until they are at a moment of locus backup",
		Long: `Tell what restored shards still need until they are at the moment that locus backup has
written to a file: which transactions each is to be rolled forward by, which it must not
have, whether each gene is on the shard that had it, and whether etcd would grant numbers
that rows have already. Nothing is changed. Let proxies run only when nothing is found.

The exit status is 0 without findings, and 1 with any.`,
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
