package doctor

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"locus/control/finding"
	"locus/migrate/link"
	"locus/proxy/twophase"
)

// branches checks all shards for transactions in doubt.
func (e *examination) branches(ctx context.Context) {
	var looking sync.WaitGroup
	for _, name := range e.Cluster.ShardNames() {
		looking.Go(func() {
			server, err := e.Jobs.Shard(ctx, name)
			if err != nil {
				return // shards reports it
			}
			c, err := link.Dial(ctx, server)
			if err != nil {
				return
			}
			_ = e.inDoubt(ctx, &shard{Conn: c, name: name})
			_ = c.Close()
		})
	}
	looking.Wait()
}

// inDoubt reports prepared branches that are not finished. Every transaction over several shards has them for a
// moment.
func (e *examination) inDoubt(ctx context.Context, s *shard) error {
	rows, err := s.Query(ctx, "XA RECOVER")
	if link.Code(err) != 0 {
		return nil // twoPhases reports it, if it matters
	}
	if err != nil {
		return err
	}
	for _, r := range rows {
		if string(r[0]) != strconv.Itoa(twophase.Format) {
			continue
		}
		length, err := strconv.Atoi(string(r[1]))
		if err != nil || length > len(r[3]) {
			return fmt.Errorf("XA RECOVER lists a branch of %s letters: %q", r[1], r[3])
		}
		e.mayPass(finding.AtRisk, "branches", string(s.name),
			"a proxy with transactions: xa finishes it within some ten seconds, once it reaches that shard; else see docs/troubleshoot/symptoms.md, Branches in doubt",
			"transaction %s is prepared and not finished; what was decided is on shard %s", r[3][:length], r[3][length:])
	}
	return nil
}

// leftovers reports what finished jobs have left on a shard.
func (e *examination) leftovers(ctx context.Context, s *shard) error {
	rows, err := s.Query(ctx, "SELECT job FROM locus.move_position UNION SELECT job FROM locus.move_lane")
	if link.Code(err) != 0 {
		return nil // there was no job yet, or the account lacks the privilege, which preflight reports
	}
	if err != nil || len(rows) == 0 {
		return err
	}
	list, err := e.Jobs.Jobs(ctx)
	if err != nil {
		return err
	}
	ids, err := e.Jobs.IDs(ctx)
	if err != nil {
		return err
	}
	live := map[string]bool{} // includes jobs whose records can't be read: they may be active
	for _, id := range ids {
		live[id] = true
	}
	for _, j := range list {
		live[j.ID] = !j.State.Over()
	}
	for _, r := range rows {
		if id, _, _ := strings.Cut(string(r[0]), "/"); !live[id] {
			text := link.Text(string(r[0]))
			e.find(finding.Advice, "leftovers", string(s.name), fmt.Sprintf("unless another cluster uses this server: DELETE FROM locus.move_position WHERE job = %s; DELETE FROM locus.move_lane WHERE job = %[1]s", text),
				"positions are kept for job %s, which has ended or was never this cluster's", r[0])
		}
	}
	return nil
}
