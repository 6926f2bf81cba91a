package keyring

import (
	"fmt"
	"maps"
	"slices"

	"locus/control/fleet"
)

// Differences returns the processes whose key rings differ from the others' or from the cluster's needs, in the order
// of the cards. Each is listed once with its most important problem.
func Differences(cards []fleet.Card, current Current) []Lack {
	first := firstKeys(cards, current)
	var list []Lack
	for _, c := range cards {
		if why := differs(c, current, first); why != "" {
			list = append(list, Lack{Process: c.ID, Why: why})
		}
	}
	return list
}

// firstKeys returns the fingerprints to compare with: the cluster's for its version, and for each other version the
// fingerprint of the first process that has it.
func firstKeys(cards []fleet.Card, current Current) map[uint32]string {
	first := map[uint32]string{}
	if current.Version > 0 {
		first[current.Version] = current.Fingerprint
	}
	for _, c := range cards {
		if c.Keys == nil {
			continue
		}
		for _, v := range c.Keys.Versions {
			if first[v.Version] == "" {
				first[v.Version] = v.Fingerprint
			}
		}
	}
	return first
}

func differs(c fleet.Card, current Current, first map[uint32]string) string {
	if len(first) == 0 || c.Keys == nil && current.Version == 0 {
		return "" // no process has keys, or could report them
	}
	if current.Version > 0 {
		if why := lack(c, current.Version, current.Fingerprint); why != "" {
			return why
		}
	}
	if c.Keys == nil || len(c.Keys.Versions) == 0 {
		return ""
	}
	if c.Keys.Refused != "" {
		return "it refuses its key ring's file: " + c.Keys.Refused
	}
	for _, version := range slices.Sorted(maps.Keys(first)) {
		switch c.Keys.Fingerprint(version) {
		case first[version]:
		case "":
			return fmt.Sprintf("it lacks key version %d, which others have: bring the current key ring to it", version)
		default:
			return fmt.Sprintf("it has another key under version %d than others: bring the current key ring to all, and restart those that had another", version)
		}
	}
	if current.Version > 0 && c.Keys.Stamps != current.Version {
		return fmt.Sprintf("it hides new numbers with version %d, and %d is current", c.Keys.Stamps, current.Version)
	}
	return ""
}
