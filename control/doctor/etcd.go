package doctor

import (
	"context"
	"time"

	"locus/config/etcd"
	"locus/control/finding"
)

const (
	// clockMost is how far a clock may be off, beyond what the question takes.
	clockMost = time.Second
	// fullAt is the share of etcd's quota from which on it is short of room, in per
	// cent.
	fullAt = 80
	// wastedMost is how much of etcd's file may hold nothing, in bytes.
	wastedMost = 256 << 20
)

// members looks at etcd's, and tells how many there are.
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
		e.find(finding.AtRisk, "etcd", h.Endpoint, "etcdctl compact and defrag; or a larger --quota-backend-bytes", "%d %% of its quota of %d MiB are used: beyond that it takes no writes",
			h.Size*100/h.Quota, h.Quota>>20)
	}
	if wasted := h.Size - h.InUse; wasted > wastedMost && wasted > h.InUse {
		e.find(finding.Advice, "etcd", h.Endpoint, "etcdctl defrag --endpoints "+h.Endpoint, "%d of the %d MiB of its file hold nothing", wasted>>20, h.Size>>20)
	}
}

// reading is a clock that was read at some moment between asked and answered, with
// so much left out behind its last digit.
type reading struct {
	at              time.Time // zero: it could not be read
	asked, answered time.Time // by this machine's clock
	rough           time.Duration
}

// clock holds one to this machine's.
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
