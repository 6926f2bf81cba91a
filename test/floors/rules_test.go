package floors

import (
	"fmt"
	"slices"
	"strings"
)

// separation keeps one part of the tree out of another.
type separation struct{ from, to, why string }

// exclusivity gives a library to some packages alone; to none if only is empty.
type exclusivity struct {
	library string
	only    []string
	why     string
}

// refuse returns why pkg must not import the other package, or nothing if it may.
// Both are paths in this module; what is imported from elsewhere is refuseLibrary's.
func (b building) refuse(pkg, imported string) string {
	switch {
	case within(pkg, "test"):
		return ""
	case within(pkg, "internal/test") && within(imported, "test"):
		return "test is another module, which builds on this one"
	case within(pkg, "internal/test"):
		return ""
	}
	if isTest(imported) {
		return "test is never imported by the product"
	}
	from, ok := b.find(pkg)
	if !ok {
		return unknown(pkg)
	}
	to, ok := b.find(imported)
	if !ok {
		return unknown(imported)
	}
	for _, s := range apart {
		if within(pkg, s.from) && within(imported, s.to) {
			return s.why
		}
	}
	if slices.Contains(allowed[pkg], imported) {
		return ""
	}
	return b.refuseHeight(from, to)
}

func (b building) refuseHeight(from, to place) string {
	above, below := b[from.layer], b[to.layer]
	switch {
	case from.layer == to.layer && to.line > from.line, slices.Contains(above.imports, below.name):
		return ""
	case from.layer == to.layer:
		return fmt.Sprintf("in %s imports go strictly down, see %s", above.name, drawing)
	case len(above.imports) == 0:
		return above.name + " imports no other layer"
	}
	return fmt.Sprintf("%s imports %s alone, and not %s; declare a small interface here and let cmd wire the two",
		above.name, strings.Join(above.imports, " and "), below.name)
}

// refuseLibrary returns why a package must not import a package outside of this module, or "".
func refuseLibrary(pkg, library string) string {
	if isTest(pkg) {
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
	return pkg + " is not drawn in " + drawing + ": add it to its layer, as low as it can stand"
}

// isTest reports whether a package is for tests alone: below test, or below internal/test, which tests of one package use too.
func isTest(pkg string) bool { return within(pkg, "test") || within(pkg, "internal/test") }

// within reports whether a path is the package root or below it.
func within(pkg, root string) bool {
	return pkg == root || strings.HasPrefix(pkg, root+"/")
}
