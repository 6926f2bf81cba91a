package ops

import (
	"context"

	"locus/router/cluster"
)

// Apply requests that the cluster becomes as a file declares it.
type Apply struct {
	Cluster *cluster.Cluster // in the file
	// SkipLiveCheck: the shards are not checked.
	SkipLiveCheck bool
	// Force accepts that rows of handed-over genes stay where nothing reads them.
	Force bool
	Reason
}

// Remedies for rows of genes that would be left behind, and that were left behind.
const (
	behind   = "move these rows first, or leave them behind, invisible, by --force-move-without-data"
	restored = "apply the former routes and tables, then move these rows and apply again"
)

func (r Apply) next(context.Context, *Ops, *cluster.Cluster) (*cluster.Cluster, error) {
	return r.Cluster, nil
}

func (r Apply) rules() rules {
	return rules{
		unchecked: r.SkipLiveCheck, force: r.Force, comments: true, stranded: behind, strandedSince: restored,
		skip: "locus apply --skip-live-check leaves the check out",
	}
}
