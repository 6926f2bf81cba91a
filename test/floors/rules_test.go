package floors

import (
	"fmt"
	"slices"
	"strings"
)

// standing is where a package stands.
type standing struct {
	pkg   string
	floor float64
	also  []string // packages that it may import though they do not stand below it
}

// separation keeps one part of the tree out of another.
type separation struct{ from, to, why string }

// exclusivity gives a library to some packages alone; to none if only is empty.
type exclusivity struct {
	library string
	only    []string
	why     string
}

// refuse says why pkg must not import the other package, or nothing if it may.
// Both are paths in this module; what is imported from elsewhere is refuseLibrary's.
func refuse(pkg, imported string) string {
	if within(pkg, "test") {
		return ""
	}
	if within(imported, "test") {
		return "test is never imported by the product"
	}
	from, ok := find(pkg)
	if !ok {
		return unknown(pkg)
	}
	to, ok := find(imported)
	if !ok {
		return unknown(imported)
	}
	for _, s := range apart {
		if within(pkg, s.from) && within(imported, s.to) {
			return s.why
		}
	}
	if slices.Contains(from.also, imported) {
		return ""
	}
	return refuseHeight(from, to)
}

func refuseHeight(from, to standing) string {
	switch {
	case from.floor == beside:
		return "what stands beside the building knows nothing of it"
	case to.floor == beside && within(from.pkg, "cmd"):
		return ""
	case to.floor == beside:
		return "cmd alone imports it; declare a small interface here and let cmd wire the two"
	case within(to.pkg, "cmd") && !within(from.pkg, "cmd"):
		return "cmd is imported by cmd alone"
	case to.floor >= from.floor:
		return fmt.Sprintf("imports go strictly down, and this one goes from floor %v to floor %v", from.floor, to.floor)
	}
	return ""
}

// refuseLibrary says why a package must not import what is not of this module.
func refuseLibrary(pkg, library string) string {
	if within(pkg, "test") {
		return ""
	}
	for _, e := range exclusive {
		if within(library, e.library) && !slices.Contains(e.only, pkg) {
			if len(e.only) == 0 {
				return e.why
			}
			return fmt.Sprintf("%s; only %s may", e.why, strings.Join(e.only, " and "))
		}
	}
	return ""
}

func unknown(pkg string) string {
	return pkg + " is not in the table of test/floors/table_test.go: add it, on the lowest floor it can stand on"
}

func find(pkg string) (standing, bool) {
	i := slices.IndexFunc(building, func(s standing) bool { return s.pkg == pkg })
	if i < 0 {
		return standing{}, false
	}
	return building[i], true
}

// within tells whether a path is that package or below it.
func within(pkg, root string) bool {
	return pkg == root || strings.HasPrefix(pkg, root+"/")
}
