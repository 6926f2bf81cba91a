package switchover

import (
	"context"
	"fmt"

	"locus/control/declared"
	"locus/router/cluster"
)

// GoOn has the primary of a shard acknowledge what no replica has, until replicas follow it again: commits that wait for one
// end then. What it acknowledges until that may be lost with it. The error is a *Refused, with nothing changed; or says what failed: if the
// document is written, whoever looks after the shard does the rest.
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
	if err = r.within(ctx, before, GoOn); err != nil && r.doc.Alone {
		err = fmt.Errorf("it is ordered, and a process with the role mover does it: %w", err)
	}
	return r.doc.Server, err
}

// WaitAgain has it wait for replicas again. The error is [etcd.ErrHeld] while another process changes roles.
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
	return r.within(ctx, before, WaitAgain)
}

// mayGoOn is what the document says against it.
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

// goOn writes the order down, unless the primary waits for nobody as it is.
func (r *run) goOn(ctx context.Context) error {
	v, err := r.primary.look(ctx)
	switch {
	case err != nil:
		return err
	case r.doc.Alone: // ordered before
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

// awaitReplicas has the primary wait for replicas, or not, as the document says.
func (r *run) awaitReplicas(ctx context.Context) error {
	if r.doc.Alone {
		return r.primary.waitForNobody(ctx)
	}
	return r.primary.waitAsPrimary(ctx)
}
