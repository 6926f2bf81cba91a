package main

import (
	"strings"

	"github.com/spf13/cobra"

	"locus/control/ops"
)

func importCommand(in *invocation) *cobra.Command {
	p := &planning{in: in}
	var also []string
	var server outsideFlags
	c := &cobra.Command{
		Use:   "import TABLE WORD... [--also 'TABLE WORD...']",
		Short: "Start a job that shards a table with rows, or makes it global",
		Long: `Start a job that shards a table with rows on one shard, while applications use it. The
table is undeclared on the default shard, or declared with shard=. The words are those of
"locus table add". The job copies the rows to the shards that own their genes, keeps both
copies equal, and compares them. "locus cutover JOB --to 100%" pauses statements on the
table for a moment, and then the table is sharded. Until "locus finish", the first shard
keeps every row, and "locus rollback" returns the table to that shard alone.

With --from, the tables are on a server outside of the cluster, in schemas of the same
names. Applications continue to use them there until the cutover, which locks them for a
moment, and use them through the proxies afterwards. The server keeps every row until
"locus finish". Later writes on that server are copied unless they conflict, and reported.

Tables that belong together are sharded by one job at the same moment: name the others
with --also.

With the word global alone, every shard gets all rows. After the cutover, clients read the
table on any shard, and write to all of them. Until "locus finish", "locus rollback"
returns the table with every row to one shard. A table of an outside server is first
copied to the default shard.`,
		Example: `  locus import shop.test_order owner=buyer_uid id=order_id --dry-run
  locus import shop.test_order owner=buyer_uid id=order_id --also 'shop.order_item parent=order_id'
  locus import shop.test_order owner=buyer_uid --from locus@10.0.0.9:3306 --secret outside/old --dry-run
  locus import shop.country global`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			if err := server.read(command); err != nil {
				return err
			}
			tables := ops.SplitTables(strings.Join(append([]string{strings.Join(args, " ")}, also...), ";"))
			return p.run(command.Context(), ops.Import{Tables: tables, Outside: server.outside, Starting: p.starting()})
		},
	}
	p.flags(c)
	server.flags(c)
	c.Flags().StringArrayVar(&also, "also", nil, "another `table` with its words, that is sharded at the same moment")
	return c
}
