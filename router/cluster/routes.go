package cluster

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"locus/config/strict"
	"locus/idgen/gene"
	"locus/router"
)

// routes is the section of that name: a text of lines such as "0x7fff s0", or a list of such lines.
type routes struct {
	given   bool // the section exists
	entries []router.Entry
	lines   []int // the line of each entry in the file
}

// UnmarshalYAML reports all invalid lines at once.
func (r *routes) UnmarshalYAML(node *yaml.Node) error {
	r.given = true
	var bad []*yaml.LoadError
	add := func(text string, line int) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			return
		}
		e, err := parseRoute(text)
		if err != nil {
			bad = append(bad, strict.Problem(line, err.Error()))
			return
		}
		r.entries, r.lines = append(r.entries, e), append(r.lines, line)
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.Style&yaml.LiteralStyle != 0:
		line := node.Line // the line of the character |; the text begins on the next line
		for text := range strings.Lines(node.Value) {
			line++
			add(text, line)
		}
	case node.Kind == yaml.ScalarNode && !strings.Contains(strings.TrimSpace(node.Value), "\n"):
		add(node.Value, node.Line)
	case node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			add(item.Value, item.Line)
		}
	default:
		bad = append(bad, strict.Problem(node.Line, "routes are a text that begins with | or a list, of lines like 0x7fff s0"))
	}
	return strict.Problems(bad)
}

func parseRoute(text string) (router.Entry, error) {
	fields := strings.Fields(text)
	if len(fields) == 2 && strings.HasPrefix(fields[0], "0x") {
		if n, err := strconv.ParseUint(fields[0][2:], 16, 32); err == nil {
			return router.Entry{Bound: gene.Gene(n), Shard: router.ShardName(fields[1])}, nil
		}
	}
	return router.Entry{}, fmt.Errorf("%q: write the last gene of a range in hex and a shard, like 0x7fff s0", text)
}

// routeMap returns the routes as version 1 of the map.
func (r *routes) routeMap(w gene.Width) (*router.Map, error) {
	if len(r.entries) == 0 {
		return nil, errors.New("routes: none: give every gene a shard, for a cluster of one shard: " + w.Last().Format(w) + " s0; or leave the section out, and the routes stay")
	}
	m, err := router.New(w, 1, r.entries)
	if err != nil {
		return nil, fmt.Errorf("routes, %s: %w", r.where(), withoutVersion(err))
	}
	return m, nil
}

func (r *routes) where() string {
	first, last := r.lines[0], r.lines[len(r.lines)-1]
	if first == last {
		return fmt.Sprintf("line %d", first)
	}
	return fmt.Sprintf("lines %d to %d", first, last)
}

// withoutVersion removes the outer error, which names a version. A file has no version.
func withoutVersion(err error) error {
	if reason := errors.Unwrap(err); reason != nil {
		return reason
	}
	return err
}
