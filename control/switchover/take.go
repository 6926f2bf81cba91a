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

// Take makes To the primary whatever there is of the other servers: one that takes writes is made
// read-only, one that can't be reached is left. GiveUp says that transactions may be left behind
// that others are seen to have; without it they are listed, and nothing is changed. The error is
// as that of Run, but that a server which can't be reached may have to be made read-only later.
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
		if err := r.within(ctx, before, Keep); err != nil {
			return err
		}
	} else if err := r.takeOther(ctx); err != nil {
		return err
	}
	r.hangUp(ctx) // former servers and others are reached anew
	if err := r.within(ctx, after, Finish); err != nil {
		return &UnfinishedError{r.doc.Server, err}
	}
	return nil
}

func (r *run) takeOther(ctx context.Context) error {
	if err := r.within(ctx, before, Take[:1]); err != nil {
		return err
	}
	return r.over(ctx)
}

// takes judges nothing but the server that is to be taken, which is the last, and tells what it lacks.
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
			problems = append(problems, fmt.Sprintf("%s lacks transactions that %s has: %s: bring them over with --to if the servers are well, or give them up (--give-up)", to.Addr, s.Addr, missing))
		}
	}
	if len(problems) > 0 {
		return "", &Refused{problems}
	}
	return r.To, nil
}

// received waits until the server that is taken has applied all that it was sent, and then judges once more.
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

// stopReceiving has all servers that are reached receive nothing more of the primary that is given up: one that got more than the server which is
// promoted would have what nobody else has, and could not follow it. That is certain of the server that is promoted, and of another one only if it answers.
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

// ceasing bounds it for a server that is not promoted: MariaDB waits a second for a primary that is lost.
const ceasing = 1500 * time.Millisecond

// rest has the server that is to be promoted have all of a primary that is reached, and that takes no writes by now.
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

// applied waits until a server has applied all that it has received.
func (s *server) applied(ctx context.Context) error {
	received, err := s.receivedSet(ctx)
	if err != nil || received == "" {
		return err
	}
	return s.has(ctx, received)
}

// receivedSet is what a server was sent by the one that it follows.
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

// othersReadOnly has all servers that are reached, but the one that is taken, take no writes.
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
