package failover

import (
	"fmt"
	"slices"
	"strings"

	"locus/control/switchover"
	"locus/router"
	"locus/router/cluster"
)

// Known is what is known of a shard beside what its servers say now.
type Known struct {
	Shard router.ShardName
	// Had is what the primary had when it was last seen to take writes, so that nothing that it
	// acknowledged until then is missing in it; empty: it was not seen.
	Had string
	// Reach are the proxies that reach the primary, and find that it takes writes.
	Reach []string

	// What follows is for a shard that locus promotes servers of.

	Away Away
	// Reached is how the proxies see the other servers.
	Reached map[string]votes
	// Identity is the primary's, as it was last seen.
	Identity string
	// Copies is how many replicas the primary waited for when it was last seen; 0: it may have acknowledged what
	// no replica has.
	Copies int
	// Followers may have acknowledged to it.
	Followers []string
	// Errant are the transactions that servers have and the primary never had, as it was last seen.
	Errant map[string]string

	shrunk string // what a primary that is reached lacks of what it had
}

// Trouble is why a shard is left as it is though not all is well with its servers.
type Trouble struct {
	What   string
	Remedy string
}

func (t *Trouble) Error() string { return t.What }

func trouble(remedy, format string, args ...any) error {
	return &Trouble{fmt.Sprintf(format, args...), remedy}
}

// Judge returns the primary of a shard with failover: follow, where an external tool promotes servers. That is the declared primary,
// or the only other server that takes writes, if it has every transaction that the former one is known to have acknowledged. The error
// is a *[Trouble] if neither is sure. Seen lists all servers of the shard, the declared primary first; it was looked at before the others.
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
		return "", trouble("make one of them the primary (SET GLOBAL read_only = OFF), or see why nothing has",
			"no server takes writes: %s", describe(seen))
	}
	return follows(primary, writable[0], seen, k)
}

// follows holds the one server that takes writes to what must be of it.
func follows(primary, next switchover.Sight, seen []switchover.Sight, k Known) (string, error) {
	switch {
	case next.Follows != "" && !next.Halted:
		return "", trouble("end its replication (RESET REPLICA ALL) if it is the primary, else SET GLOBAL read_only = ON there",
			"%s takes writes and follows another server: nobody has promoted it; %s", next.Addr, describe(seen))
	case primary.Err != nil && len(k.Reach) > 0:
		return "", trouble("SET GLOBAL read_only = ON at the one that is not the primary",
			"%s takes writes, and so does %s, which proxies reach: %s", next.Addr, primary.Addr, strings.Join(k.Reach, ", "))
	}
	return next.Addr, complete(primary, next, seen, k)
}

// complete tells what the next primary lacks.
func complete(primary, next switchover.Sight, seen []switchover.Sight, k Known) error {
	had := k.Had
	if primary.Err == nil {
		had = primary.Has
	}
	if had == "" {
		return trouble(k.take(next),
			"%s takes writes, and what %s had acknowledged is not known: it was not seen since this shard is looked after", next.Addr, primary.Addr)
	}
	if err := k.lacks(next, primary.Addr, had); err != nil {
		return err
	}
	for _, other := range seen[1:] {
		if other.Err != nil || other.Addr == next.Addr || other.Follows == next.Identity {
			continue // what it has of next may be more than next was seen to have
		}
		if err := k.lacks(next, other.Addr, other.Has); err != nil {
			return err
		}
	}
	return nil
}

// take is the order of somebody who knows more.
func (k Known) take(s switchover.Sight) string {
	return fmt.Sprintf("locus switchover %s --take %s, if it is to be the primary all the same", k.Shard, s.Addr)
}

func (k Known) lacks(next switchover.Sight, addr, had string) error {
	missing, err := switchover.Missing(next.MariaDB, had, next.Has)
	if err == nil && missing != "" {
		err = trouble("apply them at it; or "+k.take(next)+", with --give-up if a server that is reached has them",
			"%s takes writes, and lacks transactions that %s had: %s", next.Addr, addr, missing)
	}
	return err
}

func (k Known) several(writable []switchover.Sight) error {
	return trouble(fmt.Sprintf("locus switchover %s --take the one that is to be the primary: the others are made read-only", k.Shard), "%d servers take writes: %s", len(writable), describe(writable))
}

// describe lists servers with what they have.
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
