package failover

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locus/control/switchover"
	"locus/router/cluster"
)

// Away describes how far the proxies have lost a primary of a shard with failover: promote.
type Away struct {
	Votes votes
	// For is how long most proxies have been unable to reach the primary. A promotion needs at least After.
	For, After time.Duration
	// ComesAndGoes reports a flapping primary, which returned each time before After had passed.
	ComesAndGoes bool
}

func (a Away) enough() bool { return a.Votes.most() && a.For >= a.After }

// Choose returns the server that should be the primary of a shard with failover: promote. As long as the declared primary is
// reachable, it stays. Otherwise Choose returns the most advanced server, if that server has every write that may have been
// acknowledged. If no server is sure to have them, the error is a *[Trouble]. Seen lists all servers of the shard. The
// declared primary is the first, and was polled before the others.
func Choose(p cluster.Primary, seen []switchover.Sight, k Known) (string, error) {
	if at := slices.IndexFunc(seen, func(one switchover.Sight) bool { return one.Group }); at >= 0 {
		return "", trouble("declare failover: follow for the shard (locus apply)", "%s is a member of a group (Group Replication), which elects its primary by itself: locus promotes no server there", seen[at].Addr)
	}
	if p.Alone { // the primary ran without replicas, so no replica may have the writes that it has acknowledged since then
		k.Copies = 0
	}
	if !k.Away.enough() {
		k.shrunk = k.lacksOfItsOwn(seen)
		if k.shrunk == "" {
			return p.Server, k.nothingBehind(p, seen)
		}
	}
	fit, unfit := k.candidates(p, seen)
	best, pair := k.most(fit, seen)
	switch {
	case len(fit) == 0:
		return "", trouble("start the primary; or "+k.takeOne(), "%s, and no other server can be the primary: %s", k.missed(p), strings.Join(unfit, "; "))
	case best == nil:
		return "", trouble("start the primary, which may have all transactions; or "+k.takeOne()+", with --give-up, which gives up transactions that only others have",
			"%s, and no other server has all that the others have: %s", k.missed(p), pair)
	}
	if err := k.nothingElsewhere(p, *best, seen); err != nil {
		return "", err
	}
	return best.Addr, k.holds(p, *best)
}

// holds returns an error if the best server lacks a transaction that the primary is known to have had.
func (k Known) holds(p cluster.Primary, best switchover.Sight) error {
	if k.Had == "" {
		return trouble("start the primary; or "+k.takeOne(), "%s, and it is unknown what it had acknowledged, because it was never reachable while this shard was watched", k.missed(p))
	}
	lacks, err := switchover.Missing(best.MariaDB, k.Had, best.All())
	if err == nil && lacks != "" {
		err = trouble("start the primary; or "+k.take(best), "%s, and %s, which has most, lacks transactions that the primary had: %s", k.missed(p), best.Addr, lacks)
	}
	return err
}

// patience returns the problem to report about a primary that is not replaced yet.
func (k Known) patience(p cluster.Primary, seen []switchover.Sight) error {
	primary := seen[0]
	switch {
	case k.Away.ComesAndGoes:
		return trouble("check its machine; or locus switchover "+string(k.Shard)+" --to another one",
			"the primary %s is unstable: within a minute most proxies have not reached it at least %d times, and each time reached it again within %v", p.Server, comings, k.Away.After)
	case primary.Err != nil && !k.Away.Votes.most():
		return trouble("check the network between this process and the server, and the admin account of the shard",
			"the primary %s can't be checked, and stays the primary, because %d of %d proxies reach it: %v", p.Server, k.Away.Votes.Proxies-k.Away.Votes.Down, k.Away.Votes.Proxies, primary.Err)
	}
	return nil
}

// lacksOfItsOwn returns the transactions that a read-only primary had and now lacks. A restart has rolled them
// back or lost them, and another server may have them. A read-only primary takes no writes, so it can be
// replaced like an unreachable one.
func (k Known) lacksOfItsOwn(seen []switchover.Sight) string {
	primary := seen[0]
	if primary.Err != nil || !primary.ReadOnly {
		return ""
	}
	for _, s := range seen[1:] {
		if s.Err == nil && s.Addr != primary.Addr {
			if lacks := k.of(s, primary); lacks != "" {
				return lacks
			}
		}
	}
	lacks, err := switchover.Missing(primary.MariaDB, k.Had, primary.All())
	if err != nil {
		return err.Error()
	}
	return lacks
}

// nothingBehind returns an error if a read-only primary must not take writes again. At its start MariaDB rolls
// back transactions that it does not know to be acknowledged (init_rpl_role). An unreachable replica may be the
// only server that has them.
func (k Known) nothingBehind(p cluster.Primary, seen []switchover.Sight) error {
	primary := seen[0]
	if primary.Err != nil || !primary.ReadOnly || !primary.MariaDB {
		return nil
	}
	if unseen := k.unseen(seen); k.Copies > 0 && len(unseen) >= k.Copies {
		return trouble("start it; or locus switchover "+string(k.Shard)+" --take "+p.Server,
			"the primary %s takes no writes, as after a restart, and %s can't be reached, and may be the only one with transactions that were acknowledged before", p.Server, strings.Join(unseen, ", "))
	}
	return nil
}

// missed describes why the primary counts as lost.
func (k Known) missed(p cluster.Primary) string {
	if k.shrunk != "" {
		return fmt.Sprintf("the primary %s takes no writes, and lacks transactions that it had: %s", p.Server, k.shrunk)
	}
	text := fmt.Sprintf("%d of %d proxies have not reached the primary %s for %v", k.Away.Votes.Down, k.Away.Votes.Proxies, p.Server, k.Away.For.Round(time.Second))
	if k.Away.Votes.Why != "" {
		text += " (" + k.Away.Votes.Why + ")"
	}
	return text
}

func (k Known) takeOne() string {
	return fmt.Sprintf("locus switchover %s --take the one that is to be the primary", k.Shard)
}

// candidates returns the servers that can be promoted, and the reasons why the others can't.
func (k Known) candidates(p cluster.Primary, seen []switchover.Sight) (fit []switchover.Sight, unfit []string) {
	for _, s := range seen[1:] {
		if why := k.unfit(p, s); why != "" {
			unfit = append(unfit, s.Addr+" "+why)
		} else {
			fit = append(fit, s)
		}
	}
	return fit, unfit
}

// unfit returns the reason why a server can't be promoted, or "" if it can.
func (k Known) unfit(p cluster.Primary, s switchover.Sight) string {
	votes := k.Reached[s.Addr]
	switch {
	case s.Err != nil:
		return fmt.Sprintf("can't be reached (%v)", s.Err)
	case votes.most():
		return fmt.Sprintf("is not reached by %d of %d proxies (%s)", votes.Down, votes.Proxies, votes.Why)
	case k.Errant[s.Addr] != "":
		return "has transactions of its own: " + k.Errant[s.Addr]
	case !s.Logs:
		return "does not log the transactions that it receives: set log_bin and log_replica_updates (log_slave_updates)"
	case !s.GTIDs:
		return "does not replicate by GTIDs"
	case p.Cause == cluster.Lost && s.Addr == p.Next:
		return "" // an interrupted promotion has already ended its replication
	case s.Source == "":
		return "follows nobody"
	case s.Skipped(k.Had) != "":
		return "has skipped " + s.Skipped(k.Had) + ", which it wrote before it was restarted, because gtid_strict_mode was OFF: rebuild it"
	case s.Follows != k.Identity && s.Source != p.Server:
		return "follows another server than the primary"
	case !s.ReadOnly:
		return "takes writes, and is a replica"
	case !s.Applies:
		return "has stopped applying transactions: " + s.Stopped + waitsFor(s)
	}
	return ""
}

// most returns the candidate that lacks no transaction of any reachable server, errant ones left out. If there is none it returns nil
// and a description of two servers that lack each other's transactions.
func (k Known) most(fit, seen []switchover.Sight) (best *switchover.Sight, pair string) {
	for i, s := range fit {
		lacks := slices.IndexFunc(seen[1:], func(o switchover.Sight) bool { return o.Err == nil && k.of(o, s) != "" })
		if lacks < 0 {
			return &fit[i], ""
		}
		if pair == "" {
			pair = k.pair(s, seen[1+lacks])
		}
	}
	return nil, pair
}

// of returns the transactions that one server has and another lacks, without the errant transactions of the first.
func (k Known) of(has, lacks switchover.Sight) string {
	missing, err := switchover.Missing(has.MariaDB, has.All(), lacks.All())
	if err == nil && missing != "" && k.Errant[has.Addr] != "" {
		missing, err = switchover.Missing(has.MariaDB, missing, k.Errant[has.Addr])
	}
	if err != nil {
		return err.Error()
	}
	return missing
}

func (k Known) pair(a, b switchover.Sight) string {
	text := fmt.Sprintf("%s has %s and lacks %s of %s", a.Addr, a.All(), k.of(b, a), b.Addr)
	if other := k.of(a, b); other != "" {
		return text + fmt.Sprintf(", which has %s and lacks %s", b.All(), other)
	}
	return text + ", which can't be the primary"
}

// unseen returns the unreachable servers that may have acknowledged transactions of the primary.
func (k Known) unseen(seen []switchover.Sight) (list []string) {
	for _, s := range seen[1:] {
		if s.Err != nil && slices.Contains(k.Followers, s.Addr) {
			list = append(list, s.Addr)
		}
	}
	return list
}

// nothingElsewhere returns an error if best may lack an acknowledged transaction that only one other server
// has. That server is an unreachable replica that may have acknowledged it, or the primary itself, if it is
// reachable and read-only.
func (k Known) nothingElsewhere(p cluster.Primary, best switchover.Sight, seen []switchover.Sight) error {
	if primary := seen[0]; primary.Err == nil && primary.ReadOnly {
		if lacks := k.of(primary, best); lacks != "" {
			return trouble("start the replication of "+best.Addr+"; or "+k.take(best)+", with --give-up",
				"%s; it takes no writes, and %s lacks transactions that it has: %s", k.missed(p), best.Addr, lacks)
		}
	}
	unseen := k.unseen(seen)
	if k.Copies > 0 && len(unseen) >= k.Copies {
		return trouble("start it, or the primary; or "+k.take(best),
			"%s; %s can't be reached, and may be the only one with all acknowledged transactions: %s has %s", k.missed(p), strings.Join(unseen, ", "), best.Addr, best.All())
	}
	return nil
}
