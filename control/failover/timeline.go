package failover

import (
	"time"

	"locus/control/events"
	"locus/router"
)

// eventsOf returns the events of a new version of a shard's record: what an operator has to act on began or ended.
func eventsOf(shard router.ShardName, kept, next Record, now time.Time) (list []events.Event) {
	note := func(failed bool, what string) {
		list = append(list, events.Event{At: now, Kind: events.Failover, Subject: "shard " + string(shard), What: what, By: next.By, Failed: failed})
	}
	switch {
	case kept.Trouble == "" && next.Trouble != "":
		note(true, next.Trouble)
	case kept.Trouble != "" && next.Trouble == "":
		note(false, "no problem with its primary any more")
	}
	switch {
	case kept.MayLose == "" && next.MayLose != "":
		note(true, "acknowledged transactions may be lost with the primary: "+next.MayLose)
	case kept.MayLose != "" && next.MayLose == "":
		note(false, "acknowledged transactions can't be lost with the primary any more")
	}
	switch {
	case kept.Waits.IsZero() && !next.Waits.IsZero():
		note(true, "commits wait for replicas, of which too few acknowledge")
	case !kept.Waits.IsZero() && next.Waits.IsZero():
		note(false, "commits don't wait for replicas any more")
		list[len(list)-1].Took = max(0, now.Sub(kept.Waits))
	}
	return list
}
