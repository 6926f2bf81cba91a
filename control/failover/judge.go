package failover

import (
	"fmt"
	"slices"
	"strings"

	"locus/control/switchover"
	"locus/router"
	"locus/router/cluster"
)

// Known is the knowledge about a shard from earlier polls and from the proxies, in addition to the current poll
// of its servers.
type Known struct {
	Shard router.ShardName
	// Had is the GTID set of the primary at the last poll at which it took writes. It contains everything that
	// the primary had acknowledged until then. Empty if no poll has found a writable primary.
	Had string
	// Reach lists the proxies that reach the primary and find it writable.
	Reach []string

	// The following fields are set only for shards whose servers locus promotes.

	Away Away
	// Reached holds how the proxies see each of the other servers.
	Reached map[string]votes
	// Identity is the server ID of the primary at the last poll that reached it.
	Identity string
	// Copies is the number of replicas that the primary waited for at the last poll that reached it. If it is
	// 0, the primary may have acknowledged transactions that no replica has.
	Copies int
	// Followers lists the servers that may have acknowledged transactions to the primary.
	Followers []string
	// Errant holds, by server, the transactions that the primary never had, as of the last poll.
	Errant map[string]string

	shrunk string // transactions that the primary once had, and that it lacks now although it is reachable
}

// Trouble is a problem of a shard's servers that locus leaves to an operator.
type Trouble struct {
	What   string
	Remedy string
}

func (t *Trouble) Error() string { return t.What }

func trouble(remedy, format string, args ...any) error {
	return &Trouble{fmt.Sprintf(format, args...), remedy}
}

// Judge returns the primary of a shard with failover: follow, where an external tool promotes servers. The
// result is the declared primary, or the only other writable server, if that one has every transaction that the
// declared primary is known to have acknowledged. The error is a *[Trouble] if neither is sure. Seen lists all
// servers of the shard. The declared primary is the first, and was polled before the others.
func Judge(p cluster.Primary, seen []switchover.Sight, k Known) (string, error) {
	primary := seen[0]
	writable := slices.Collect(func(yield func(switchover.Sight) bool) {
		for _, s := range seen[1:] {
			if s.Err == nil && !s.ReadOnly && !yield(s) {
				return
			}
		}
	})
	up := primary.Err == nil && !primary.ReadOnly
	switch {
	case up && len(writable) == 0:
		return p.Server, nil
	case up:
		return "", k.several(append([]switchover.Sight{primary}, writable...))
	case len(writable) > 1:
		return "", k.several(writable)
	case len(writable) == 0:
		return "", trouble("make one of them the primary (SET GLOBAL read_only = OFF), or find out why no tool has",
			"no server takes writes: %s", describe(seen))
	}
	return follows(primary, writable[0], seen, k)
}

// follows checks the only writable server, next, before the proxies follow it.
func follows(primary, next switchover.Sight, seen []switchover.Sight, k Known) (string, error) {
	switch {
	case next.Follows != "" && !next.Halted:
		return "", trouble("end its replication (RESET REPLICA ALL) if it is the primary, else SET GLOBAL read_only = ON there",
			"%s takes writes and follows another server, so it was not promoted; %s", next.Addr, describe(seen))
	case primary.Err != nil && len(k.Reach) > 0:
		return "", trouble("SET GLOBAL read_only = ON at the one that is not the primary",
			"%s takes writes, and so does %s, which proxies reach: %s", next.Addr, primary.Addr, strings.Join(k.Reach, ", "))
	}
	return next.Addr, complete(primary, next, seen, k)
}

// complete returns an error if the next primary lacks transactions.
func complete(primary, next switchover.Sight, seen []switchover.Sight, k Known) error {
	had := k.Had
	if primary.Err == nil {
		had = primary.Has
	}
	if had == "" {
		return trouble(k.take(next),
			"%s takes writes, and it is unknown what %s had acknowledged, because it was never reachable while this shard was watched", next.Addr, primary.Addr)
	}
	if err := k.lacks(next, primary.Addr, had); err != nil {
		return err
	}
	for _, other := range seen[1:] {
		if other.Err != nil || other.Addr == next.Addr || other.Follows == next.Identity {
			continue // it replicates from next and may have received more since next was polled
		}
		if err := k.lacks(next, other.Addr, other.Has); err != nil {
			return err
		}
	}
	return nil
}

// take returns the command by which an operator makes this server the primary.
func (k Known) take(s switchover.Sight) string {
	return fmt.Sprintf("locus switchover %s --take %s, if it is to be the primary nevertheless", k.Shard, s.Addr)
}

func (k Known) lacks(next switchover.Sight, addr, had string) error {
	missing, err := switchover.Missing(next.MariaDB, had, next.Has)
	if err == nil && missing != "" {
		err = trouble("apply them there; or "+k.take(next)+", with --give-up if a server that is reached has them",
			"%s takes writes, and lacks transactions that %s had: %s", next.Addr, addr, missing)
	}
	return err
}

func (k Known) several(writable []switchover.Sight) error {
	return trouble(fmt.Sprintf("locus switchover %s --take the one that is to be the primary: the others are made read-only", k.Shard), "%d servers take writes: %s", len(writable), describe(writable))
}

// describe lists the servers with their GTID sets, for error messages.
func describe(seen []switchover.Sight) string {
	words := make([]string, len(seen))
	for i, s := range seen {
		switch {
		case s.Err != nil:
			words[i] = fmt.Sprintf("%s can't be reached (%v)", s.Addr, s.Err)
		case s.ReadOnly:
			words[i] = fmt.Sprintf("%s is read-only and has %s", s.Addr, s.Has)
		default:
			words[i] = fmt.Sprintf("%s takes writes and has %s", s.Addr, s.Has)
		}
	}
	return strings.Join(words, "; ")
}
