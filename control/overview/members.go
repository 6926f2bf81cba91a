package overview

import (
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/control/finding"
)

func members(all []etcd.Health, blind error) []Etcd {
	var list []Etcd
	for _, h := range all {
		list = append(list, Etcd{Endpoint: h.Endpoint, Problem: unhealthy(h)})
	}
	if blind != nil && len(list) == 0 {
		list = []Etcd{{Endpoint: "etcd", Problem: "can't be read: " + blind.Error()}}
	}
	return list
}

// unhealthy returns the problem of a member, or "".
func unhealthy(h etcd.Health) string {
	switch {
	case h.Err != nil:
		return "does not answer: " + h.Err.Error()
	case !h.Leader:
		return "has no leader: it accepts no writes"
	case len(h.Alarms) > 0:
		return "has an alarm: " + strings.Join(h.Alarms, ", ")
	}
	return ""
}

// etcdDown returns the finding that etcd can't be used. Then jobs, definitions and failovers don't work, and
// proxies refuse statements to shards whose primaries etcd must confirm.
func etcdDown(seen Seen) []cause {
	const remedy = "etcdctl endpoint status --cluster; start the members that are missing, and check the network to them"
	var f finding.Finding
	switch {
	case seen.Blind != nil:
		f = finding.New(finding.Outage, "etcd", "etcd", remedy, "it can't be read: %v", finding.Measure(seen.Blind.Error()))
		f.Title = "etcd can't be read: " + seen.Blind.Error()
	case len(seen.Etcd) > 0 && !slices.ContainsFunc(seen.Etcd, func(h etcd.Health) bool { return unhealthy(h) == "" }):
		f = finding.New(finding.Outage, "etcd", "etcd", remedy, "no member of it is healthy")
		f.Title = "no member of etcd is healthy"
	default:
		return nil
	}
	return []cause{{f, func(f finding.Finding) bool { return f.Check == "etcd" }}}
}

// membersFound returns the members that have problems. While others are healthy, etcd works.
func membersFound(seen Seen) (list []finding.Finding) {
	for _, h := range seen.Etcd {
		remedy := "start it, or take it out of etcd.endpoints"
		switch {
		case unhealthy(h) == "":
			continue
		case h.Err == nil && !h.Leader:
			remedy = "etcdctl endpoint status --cluster; start the members that are missing"
		case slices.ContainsFunc(h.Alarms, func(alarm string) bool { return strings.Contains(alarm, "NOSPACE") }):
			remedy = "etcdctl compact, defrag, then alarm disarm; or a larger --quota-backend-bytes"
		case h.Err == nil:
			remedy = "etcdctl alarm list"
		}
		f := finding.New(finding.AtRisk, "etcd", h.Endpoint, remedy, "it %s", unhealthy(h))
		f.Title, f.Symptom = "etcd at "+h.Endpoint+" "+unhealthy(h), true
		list = append(list, f)
	}
	return list
}
