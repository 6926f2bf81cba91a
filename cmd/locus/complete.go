package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/control/fleet"
	"locus/control/jobs"
	"locus/idgen/cipher"
)

// completionTime bounds the wait of a shell for names. Errors are not shown.
const completionTime = time.Second

// completions adds completion of names to every command: for arguments called JOB, PROXY or VERSION in its
// usage line, and for the flags that take a shard, a table or a generator.
func (in *invocation) completions(c *cobra.Command) {
	for _, sub := range c.Commands() {
		in.completions(sub)
	}
	switch words := strings.Fields(c.Use); {
	case len(words) < 2:
	case strings.Trim(words[1], "[]") == "JOB":
		c.ValidArgsFunction = first(in.names(jobNames))
	case words[1] == "PROXY":
		c.ValidArgsFunction = first(in.names(proxyNames))
	case words[1] == "VERSION" && c.Flag("key-ring") != nil:
		c.ValidArgsFunction = first(in.keyVersions)
	}
	for flag, names := range map[string]namer{
		"from": shardNames, "to": shardNames, "into": shardNames, "table": tableNames, "generator": generatorNames,
	} {
		if f := c.Flags().Lookup(flag); f != nil && f.Value.Type() == "string" { // the --to of cutover is a percentage
			_ = c.RegisterFlagCompletionFunc(flag, in.names(names))
		}
	}
}

// namer returns names from etcd.
type namer func(context.Context, *connection) ([]string, error)

// names completes a word with the results of a namer.
func (in *invocation) names(find namer) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), completionTime)
		defer cancel()
		var found []string
		_ = in.withEtcd(func(conn *connection) (err error) {
			found, err = find(ctx, conn)
			return err
		})
		return beginning(found, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

func beginning(names []string, begun string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, begun) })
}

// first completes only the first argument.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(command, args, begun)
	}
}

// keyVersions completes the versions of a key ring.
func (in *invocation) keyVersions(command *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	k := &keysOf{in: in, file: command.Flag("key-ring").Value.String()}
	var versions []string
	if path, err := k.path(); err == nil {
		if ring, err := cipher.Load(path); err == nil {
			for _, v := range ring.Versions() {
				versions = append(versions, strconv.FormatUint(uint64(v), 10))
			}
		}
	}
	return beginning(versions, begun), cobra.ShellCompDirectiveNoFileComp
}

// jobNames returns the running jobs first, and then those that are over.
func jobNames(ctx context.Context, conn *connection) ([]string, error) {
	list, err := jobs.New(conn.kv, "", nil).Jobs(ctx)
	var live, past []string
	for _, j := range list {
		if j.State.Over() {
			past = append(past, j.ID)
		} else {
			live = append(live, j.ID)
		}
	}
	return append(live, past...), err
}

func proxyNames(ctx context.Context, conn *connection) ([]string, error) {
	return fleet.Alive(ctx, conn.kv)
}

func shardNames(ctx context.Context, conn *connection) (names []string, err error) {
	c, err := declared.Current(ctx, conn.kv)
	if err != nil {
		return nil, err
	}
	for _, name := range c.ShardNames() {
		names = append(names, string(name))
	}
	return names, nil
}

func tableNames(ctx context.Context, conn *connection) (names []string, err error) {
	c, err := declared.Current(ctx, conn.kv)
	if err != nil {
		return nil, err
	}
	for _, name := range c.TableNames() {
		names = append(names, name.String())
	}
	return names, nil
}

func generatorNames(ctx context.Context, conn *connection) ([]string, error) {
	c, err := declared.Current(ctx, conn.kv)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(c.Generators)), nil
}
