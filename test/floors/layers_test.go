package floors

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// drawing is the file with the drawing of the layers, with which imports are compared.
const drawing = "docs/internals/architecture.md"

// layer is some packages of one purpose.
type layer struct {
	name string
	// imports are the layers that its packages may import besides those below them in their own.
	imports []string
	lines   [][]string // the packages, from the top; packages of one line don't import each other
}

// building is the layers, from the top.
type building []layer

// place is the layer and the line of a package.
type place struct{ layer, line int }

var (
	header  = regexp.MustCompile(`^([a-z]+) +imports (.+)$`)
	columns = regexp.MustCompile(` {2,}`)
	isPath  = regexp.MustCompile(`^[a-z]+(/[a-z]+)*$`)
)

// readBuilding reads the layers of the drawing. A layer has a line with the layers that it imports, and below it, indented,
// its packages. Two or more spaces separate packages from each other and from their descriptions.
func readBuilding(path string) (building, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b building
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if m := header.FindStringSubmatch(line); m != nil {
			b = append(b, layer{name: m[1], imports: listed(m[2])})
			continue
		}
		if len(b) == 0 {
			continue
		}
		if !strings.HasPrefix(line, "  ") {
			break
		}
		last := &b[len(b)-1]
		last.lines = append(last.lines, packages(line))
	}
	if len(b) == 0 {
		return nil, errors.New(path + " draws no layers")
	}
	return b, errors.Join(lines.Err(), b.check())
}

// listed are the names of layers in "routing, values" or "routing and values"; nothing is no layer.
func listed(text string) []string {
	var names []string
	for name := range strings.SplitSeq(strings.ReplaceAll(text, " and ", ", "), ", ") {
		if name != "nothing" {
			names = append(names, name)
		}
	}
	return names
}

// packages are the paths that a line begins with.
func packages(line string) []string {
	var list []string
	for _, column := range columns.Split(strings.TrimSpace(line), -1) {
		if !isPath.MatchString(column) {
			break
		}
		list = append(list, column)
	}
	return list
}

// check returns an error if a layer imports an unknown layer or one above it, or if a package occurs twice.
func (b building) check() error {
	var problems []error
	seen := map[string]bool{}
	for i, l := range b {
		for _, name := range l.imports {
			if below := slices.IndexFunc(b, func(l layer) bool { return l.name == name }); below <= i {
				problems = append(problems, fmt.Errorf("%s imports %s, which is no layer below it", l.name, name))
			}
		}
		for _, pkg := range slices.Concat(l.lines...) {
			if seen[pkg] {
				problems = append(problems, fmt.Errorf("%s is drawn twice", pkg))
			}
			seen[pkg] = true
		}
	}
	return errors.Join(problems...)
}

func (b building) find(pkg string) (place, bool) {
	for i, l := range b {
		for j, line := range l.lines {
			if slices.Contains(line, pkg) {
				return place{i, j}, true
			}
		}
	}
	return place{}, false
}

// all are the packages, from the top.
func (b building) all() []string {
	var list []string
	for _, l := range b {
		list = append(list, slices.Concat(l.lines...)...)
	}
	return list
}
