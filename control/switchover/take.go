package switchover

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"locus/control/declared"
	"locus/router/cluster"
)

// Take makes To the primary, regardless of the state of the other servers. It makes writable servers read-only, and ignores
// unreachable ones. GiveUp permits losing transactions that are found only on other servers. Without it, Take lists them and
// changes nothing. The errors are those of Run, except that an unreachable server may have to be made read-only later.
func (s Switchover) Take(ctx context.Context, giveUp bool) error {
	now, err := declared.ReadPrimary(ctx, s.KV, s.Shard)
	if err != nil {
		return err
	}
	if err := member(now.Cluster, s.Shard, s.To); err != nil {
		return err
	}
	r, release, err := s.claim(ctx)
	if err != nil {
		return err
	}
	defer release()
	r.giveUp = giveUp
	return r.takeServer(ctx)
}

func (r *run) takeServer(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	r.judge, r.cause = r.takes, cluster.Taken
	if r.doc.Server == r.To && r.doc.Next == "" {
		if err := r.run(ctx, toKeep); err != nil {
			return err
		}
	} else if err := r.takeOther(ctx); err != nil {
		return err
	}
	r.hangUp(ctx) // connect again to the former primary and the others
	if err := r.run(ctx, toFinish); err != nil {
		return &UnfinishedError{r.doc.Server, err}
	}
	return nil
}

func (r *run) takeOther(ctx context.Context) error {
	if err := r.run(ctx, toJudge); err != nil {
		return err
	}
	return r.over(ctx)
}

// takes is the judge of Take. It checks only the server to promote, which is the last one, and lists the
// transactions that it lacks.
func (r *run) takes(_ cluster.Primary, seen []Sight) (string, error) {
	var problems []string
	to, others := seen[len(seen)-1], seen[:len(seen)-1]
	switch {
	case to.Err != nil:
		return "", &Refused{[]string{fmt.Sprintf("%s can't be reached: %v", to.Addr, to.Err)}}
	case to.Group:
		return "", &Refused{[]string{to.elects()}}
	case !to.Logs || !to.GTIDs:
		problems = append(problems, to.Addr+" needs log_bin, log_replica_updates (log_slave_updates) and GTIDs, so that others can follow it")
	}
	for _, s := range others {
		if s.Err != nil || r.giveUp {
			continue
		}
		missing, err := Missing(to.MariaDB, s.Has, to.Has)
		if err != nil {
			return "", err
		}
		if missing != "" {
			problems = append(problems, fmt.Sprintf("%s lacks transactions that %s has: %s: transfer them with --to if the servers are healthy, or give them up (--give-up)", to.Addr, s.Addr, missing))
		}
	}
	if len(problems) > 0 {
		return "", &Refused{problems}
	}
	return r.To, nil
}

// received waits until the server to promote has applied everything that it received, and calls the judge
// again.
func (r *run) received(ctx context.Context) error {
	to := r.servers[r.To]
	v, err := to.look(ctx)
	if err != nil {
		return err
	}
	if v.Follows != "" {
		if err := r.rest(ctx, to); err != nil {
			return err
		}
		if err := r.stopReceiving(ctx); err != nil {
			return err
		}
		if err := to.applied(ctx); err != nil {
			return err
		}
	}
	return r.lookAgain(ctx)
}

// stopReceiving stops the I/O threads of all reachable servers. A server that received more than the promoted
// one would have errant transactions and could not follow it. The stop must succeed on the server to promote.
// On another server it takes effect only if that server answers.
func (r *run) stopReceiving(ctx context.Context) error {
	others, cancel := context.WithTimeout(ctx, ceasing)
	defer cancel()
	var stops sync.WaitGroup
	defer stops.Wait()
	for addr, s := range r.servers {
		if addr == r.To || addr == r.doc.Server {
			continue
		}
		stops.Go(func() {
			v, err := s.look(others)
			if err == nil && v.Follows == "" {
				return
			}
			if err == nil {
				err = s.stopReceiving(others)
			}
			if err != nil {
				r.Log.Warn("a server may still receive what the former primary sends", slog.String("shard", string(r.Shard)), slog.String("addr", addr), slog.Any("error", err))
			}
		})
	}
	return r.servers[r.To].stopReceiving(ctx)
}

// ceasing bounds the stop on the other servers. MariaDB waits one second for a lost primary.
const ceasing = 1500 * time.Millisecond

// rest waits until the server to promote has applied everything that the old primary has, if that one is
// reachable and read-only.
func (r *run) rest(ctx context.Context, to *server) error {
	primary := r.servers[r.doc.Server]
	if r.cause != cluster.Lost || primary == nil || r.away[r.doc.Server] != nil {
		return nil
	}
	position, err := primary.position(ctx)
	if err != nil {
		return err
	}
	return to.has(ctx, position)
}

// applied waits until a server has applied everything it received.
func (s *server) applied(ctx context.Context) error {
	received, err := s.receivedSet(ctx)
	if err != nil || received == "" {
		return err
	}
	return s.has(ctx, received)
}

// receivedSet returns the transactions that a server received from its source.
func (s *server) receivedSet(ctx context.Context) (string, error) {
	rows, err := s.rows(ctx, "SHOW REPLICA STATUS")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	if s.mariadb {
		return rows[0]["gtid_io_pos"], nil
	}
	return strings.ReplaceAll(rows[0]["retrieved_gtid_set"], "\n", ""), nil
}

// othersReadOnly makes all reachable servers read-only, except the one to promote.
func (r *run) othersReadOnly(ctx context.Context) error {
	for addr, s := range r.servers {
		if addr == r.To {
			continue
		}
		if err := r.fence(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
