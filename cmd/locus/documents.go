package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/control/doctor"
)

func documentsCommand(in *invocation) *cobra.Command {
	group := groupCommand("documents", "List the documents in etcd that can't be used, and restore or remove one")
	group.AddCommand(documentsListCommand(in), documentsRestoreCommand(in), documentsRemoveCommand(in))
	return group
}

func documentsListCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the documents in etcd that this version can't use, with a remedy for each",
		Long: `List the documents in etcd that this version of locus can't use: damaged ones, those of a
newer version, and those with unknown keys. Statements and operations that need such a
document are refused; all others work. Each line contains the remedy.`,
		Example: "  locus documents list\n  locus documents list -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return in.withEtcd(func(conn *connection) error {
				list, err := doctor.Documents(command.Context(), conn.kv)
				if err != nil {
					return err
				}
				if list == nil {
					list = []doctor.Document{}
				}
				return in.show(list, func(w io.Writer) {
					for _, d := range list {
						fmt.Fprintf(w, "%s: %s\n  remedy: %s\n", d.Key, d.Why, d.Remedy)
					}
					if len(list) == 0 {
						fmt.Fprintln(w, "all documents can be used")
					}
				})
			})
		},
	}
}

func documentsRestoreCommand(in *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "restore KEY",
		Short: "Restore the last usable value of a document",
		Long: `Restore the last value of a document that this version can use, from etcd's history,
which etcd keeps until it is compacted. KEY is as locus documents list prints it.`,
		Example: "  locus documents restore declared/tables/shop.country",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				if err := in.confirm("Document %s: restore its last value that can be used?", args[0]); err != nil {
					return err
				}
				if err := doctor.Restore(command.Context(), conn.kv, args[0]); err != nil {
					return err
				}
				fmt.Fprintf(in.stdout, "%s has its last value again\n", args[0])
				return nil
			})
		},
	}
	in.addYes(c)
	return c
}

func documentsRemoveCommand(in *invocation) *cobra.Command {
	c := &cobra.Command{
		Use:   "remove KEY",
		Short: "Remove a document that can't be used",
		Long: `Remove a document that this version can't use. The command refuses to remove one without
which rows would not be found or numbers would be issued again. If it removes the record
of a job, it also removes the job from the route map: the genes stay where they are, and
so do the rows that were copied.
KEY is as locus documents list prints it.`,
		Example: "  locus documents remove declared/tables/shop.x%20y",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withEtcd(func(conn *connection) error {
				if err := in.confirm("Document %s: remove it?", args[0]); err != nil {
					return err
				}
				if err := doctor.Remove(command.Context(), conn.kv, args[0], in.operator(), in.now()); err != nil {
					return err
				}
				fmt.Fprintf(in.stdout, "%s is removed\n", args[0])
				return nil
			})
		},
	}
	in.addYes(c)
	return c
}
