package ops

import "fmt"

// Stages lists what a planned job does, in order.
func (p *Plan) Stages() []string {
	j := p.Job
	switch {
	case j.Outside() != nil:
		return fromOutside(j)
	case j.Import.Global():
		return toAll(j)
	case j.Import != nil:
		return fromShard(j)
	}
	cutover := "wait for locus cutover: each step pauses statements on its genes, waits until the target has all rows, and hands them over"
	if j.BySequence {
		cutover = "wait for locus cutover: each step holds statements on these genes, waits until the target has all, and hands over rows by their sequences; " +
			"meanwhile statements by owner ask both shards"
	}
	return []string{
		"announce the move in the route map, and wait until every proxy knows it",
		"copy the rows of these genes while the binary log is followed",
		"compare both shards, and keep comparing",
		cutover,
		"keep the source equal, so that locus rollback is possible at any time",
		"delete the source's rows after locus finish",
	}
}

func fromShard(j *Job) []string {
	return []string{
		fmt.Sprintf("declare the tables to be %s's alone, so that copies on other shards do not count, and wait until every proxy knows", j.From),
		"make the tables on the shards that lack them",
		fmt.Sprintf("copy the rows to the shards that own their genes, while the binary log of %s is followed", j.From),
		"check that the owner and the ID of every row agree, compare the shards, and keep comparing",
		"wait for locus cutover: statements on the tables are paused until the shards have all rows, and the tables are declared sharded",
		fmt.Sprintf("keep %s equal, with all rows, so that locus rollback can return the tables to it at any time", j.From),
		fmt.Sprintf("delete the others' rows on %s after locus finish", j.From),
	}
}

func toAll(j *Job) []string {
	return []string{
		fmt.Sprintf("declare the tables to be %s's alone, so that copies on other shards do not count, and wait until every proxy knows", j.From),
		"make the tables on the shards that lack them",
		fmt.Sprintf("copy all rows to every shard, and follow the binary log of %s", j.From),
		"compare the shards, and keep comparing",
		"wait for locus cutover: statements on the tables wait until the shards have all rows, and the tables are declared global",
		fmt.Sprintf("let clients write the tables on every shard, so that locus rollback can return them to %s at any time", j.From),
		"leave the rows where they are after locus finish",
	}
}

func fromOutside(j *Job) []string {
	at := j.Source()
	return []string{
		fmt.Sprintf("declare the tables to be outside, at %s, so that the proxies refuse them, and wait until every proxy knows", at),
		"make the tables on the shards",
		fmt.Sprintf("copy the rows to the shards that own their genes, while the binary log of %s is followed", at),
		"check that the owner and the ID of every row agree, compare the servers, and keep comparing",
		fmt.Sprintf("wait for locus cutover: the tables are locked at %s until the shards have all rows, and declared sharded: then clients use them through the proxies", at),
		fmt.Sprintf("keep %s equal, with all rows, so that clients can continue there after locus rollback; copy rows that are still written there, and report them", at),
		fmt.Sprintf("leave the rows at %s as they are after locus finish", at),
	}
}
