package doctor

import (
	"context"
	"time"

	"locus/config/etcd"
	"locus/control/finding"
)

const (
	// clockMost is the tolerated difference of a clock, in addition to the time that the query takes.
	clockMost = time.Second
	// fullAt is the part of etcd's quota above which its use is reported, in per cent.
	fullAt = 80
	// wastedMost is how many bytes of etcd's file may be unused.
	wastedMost = 256 << 20
)

// members checks etcd's members, and returns their number.
func (e *examination) members(ctx context.Context) int {
	asked := e.Now()
	all := e.Health(ctx)
	answered := e.Now()
	versions := map[string]bool{}
	for _, h := range all {
		if h.Err != nil {
			continue // package overview reports it
		}
		versions[h.Version] = true
		e.space(h)
		e.clock("etcd at "+h.Endpoint, reading{h.Clock, asked, answered, time.Second})
	}
	if len(versions) > 1 {
		e.find(finding.Advice, "etcd", "all endpoints", "finish the upgrade: one version on all members", "%d versions of it run side by side", len(versions))
	}
	return len(all)
}

func (e *examination) space(h etcd.Health) {
	if h.Quota > 0 && h.Size*100 >= h.Quota*fullAt {
		e.find(finding.AtRisk, "etcd", h.Endpoint, "etcdctl compact and defrag; or a larger --quota-backend-bytes", "%d %% of its quota of %d MiB are used: at 100 %% it accepts no writes",
			h.Size*100/h.Quota, h.Quota>>20)
	}
	if wasted := h.Size - h.InUse; wasted > wastedMost && wasted > h.InUse {
		e.find(finding.Advice, "etcd", h.Endpoint, "etcdctl defrag --endpoints "+h.Endpoint, "%d of the %d MiB of its file are unused", wasted>>20, h.Size>>20)
	}
}

// reading is the time of a clock that was read at some moment between asked and answered. The clock's time was
// rounded down by at most rough.
type reading struct {
	at              time.Time // zero: the clock could not be read
	asked, answered time.Time // by this machine's clock
	rough           time.Duration
}

// clock compares a clock with this machine's.
func (e *examination) clock(whose string, r reading) {
	if r.at.IsZero() {
		return
	}
	off, way := r.at.Sub(r.answered), "ahead of"
	if off <= clockMost {
		off, way = r.asked.Sub(r.at.Add(r.rough)), "behind"
	}
	unit := time.Second
	if off > 10*time.Minute {
		unit = time.Minute
	}
	if off > clockMost {
		e.find(finding.AtRisk, "clocks", whose, "set both clocks by NTP: timedatectl set-ntp true", "its clock is %v %s this machine's", off.Round(unit), way)
	}
}
