package overview

import (
	"strings"

	"locus/config/etcd"
)

func members(all []etcd.Health, blind error) []Etcd {
	var list []Etcd
	for _, h := range all {
		e := Etcd{Endpoint: h.Endpoint}
		switch {
		case h.Err != nil:
			e.Problem = "does not answer: " + h.Err.Error()
		case !h.Leader:
			e.Problem = "knows of no leader"
		case len(h.Alarms) > 0:
			e.Problem = strings.Join(h.Alarms, ", ")
		}
		list = append(list, e)
	}
	if blind != nil && len(list) == 0 {
		list = []Etcd{{Endpoint: "etcd", Problem: "can't be read: " + blind.Error()}}
	}
	return list
}
