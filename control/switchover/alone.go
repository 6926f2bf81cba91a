package switchover

import (
	"context"
	"fmt"

	"locus/control/declared"
	"locus/router/cluster"
)

// GoOn lets the primary of a shard acknowledge transactions that no replica has, until replicas follow it
// again. Commits that wait for a replica return. Transactions acknowledged in this state may be lost with the
// primary. The error is a *Refused if nothing was changed. Otherwise it names the failed step. Once the
// document is written, the watching process completes the rest.
func (s Switchover) GoOn(ctx context.Context) (primary string, err error) {
	if _, err := declared.ReadPrimary(ctx, s.KV, s.Shard); err != nil {
		return "", err
	}
	r, release, err := s.claim(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	if err := r.read(ctx); err != nil {
		return "", err
	}
	if err := r.mayGoOn(); err != nil {
		return "", err
	}
	r.To = r.doc.Server
	if err = r.run(ctx, toGoOn); err != nil && r.doc.Alone {
		err = fmt.Errorf("it is requested, and a process with the role mover will do it: %w", err)
	}
	return r.doc.Server, err
}

// WaitAgain makes the primary wait for replicas again. The error is [etcd.ErrHeld] while another process
// changes roles.
func (s Switchover) WaitAgain(ctx context.Context) error {
	r, release, err := s.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := r.read(ctx); err != nil || !r.doc.Alone {
		return err
	}
	r.To = r.doc.Server
	return r.run(ctx, toWaitAgain)
}

// mayGoOn returns an error if the declaration or the document forbids GoOn.
func (r *run) mayGoOn() error {
	switch how := r.doc.Cluster.Shards[r.Shard].Failover; {
	case how != cluster.FailoverPromote:
		return &Refused{[]string{fmt.Sprintf("locus leaves semi-synchronous replication as it is on shard %s, which has not failover: promote: "+
			"SET GLOBAL rpl_semi_sync_source_enabled = OFF (rpl_semi_sync_master_enabled) at its primary %s", r.Shard, r.doc.Server)}}
	case r.doc.Next != "":
		return &Refused{[]string{fmt.Sprintf("a switchover to %s has not ended: wait for its end, or locus switchover %s --to %s", r.doc.Next, r.Shard, r.doc.Next)}}
	}
	return nil
}

// goOn writes the request into the document, unless the primary waits for no replica anyway.
func (r *run) goOn(ctx context.Context) error {
	v, err := r.primary.look(ctx)
	switch {
	case err != nil:
		return err
	case r.doc.Alone: // requested before
		return nil
	case v.ReadOnly:
		return &Refused{[]string{r.primary.addr + " takes no writes: see locus doctor, primaries"}}
	case !v.SemiSync.Waits:
		return &Refused{[]string{r.primary.addr + " waits for no replica as it is: semi-synchronous replication is off"}}
	case !v.SemiSync.Acknowledges:
		return &Refused{[]string{r.primary.addr + " does not acknowledge as a replica, and so locus leaves its semi-synchronous replication as it is: " +
			"SET GLOBAL rpl_semi_sync_source_enabled = OFF (rpl_semi_sync_master_enabled) there"}}
	}
	return r.replace(ctx, r.doc.WithoutReplicas(r.By))
}

// awaitReplicas makes the primary wait for replicas, or not, as the document declares.
func (r *run) awaitReplicas(ctx context.Context) error {
	if r.doc.Alone {
		return r.primary.waitForNobody(ctx)
	}
	return r.primary.waitAsPrimary(ctx)
}
