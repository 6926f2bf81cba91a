package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"locus/proxy/schema"
)

func rereadCommand(in *invocation) *cobra.Command {
	var dryRun bool
	command := &cobra.Command{
		Use:   "reread",
		Short: "Have the proxies read the shards' schemas again",
		Long: `Have the proxies read the shards' schemas again, after declared tables were
altered on every shard. The shards are asked first whether the tables still fit
what is declared; if they don't, the proxies are left with what they know.`,
		Example: `  locus reread -c locus.yaml`,
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return in.reread(command.Context(), dryRun) },
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "ask the shards, tell the proxies nothing")
	return command
}

func (in *invocation) reread(ctx context.Context, dryRun bool) error {
	conn, err := in.connect()
	if err != nil {
		return err
	}
	defer conn.close()
	state, err := conn.state(ctx)
	if err != nil {
		return err
	}
	if state.Cluster == nil {
		return conn.noCluster()
	}
	asked, err := ask(conn, nil, state.Cluster)
	if err != nil {
		return err
	}
	defer asked.close(ctx)
	loaded, err := schema.Load(ctx, asked.of(state.Cluster), state.Cluster)
	if err != nil {
		return err
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(in.stderr, "warning:", w)
	}
	if err := loaded.Problems(); err != nil {
		return fmt.Errorf("%w\nthe proxies were told nothing", err)
	}
	if dryRun {
		fmt.Fprintln(in.stdout, "dry run: the tables fit; the proxies were told nothing")
		return nil
	}
	if err := commit(ctx, conn, state, state.Cluster.Reread()); err != nil {
		return err
	}
	fmt.Fprintln(in.stdout, "the tables fit; the proxies read them again")
	return nil
}
