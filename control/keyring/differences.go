package keyring

import (
	"fmt"
	"maps"
	"slices"

	"locus/control/fleet"
)

// Differences are the processes whose key rings are not the others', or not what the
// cluster needs, in the order of the cards. Each is named once, with what weighs most.
func Differences(cards []fleet.Card, current Current) []Lack {
	first := firstKeys(cards, current)
	var list []Lack
	for _, c := range cards {
		if why := differs(c, current, first); why != "" {
			list = append(list, Lack{c.ID, why})
		}
	}
	return list
}

// firstKeys are the fingerprints that others are held to: the cluster's of its version,
// and of each other the first process's that has it.
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
		return "" // nobody has keys, or nobody could know
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
		return "it refuses what is in its key ring's file: " + c.Keys.Refused
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
		return fmt.Sprintf("it stamps with version %d, and %d is current", c.Keys.Stamps, current.Version)
	}
	return ""
}
