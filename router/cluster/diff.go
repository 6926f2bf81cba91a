package cluster

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"locus/router"
)

// Action is the kind of a document's change.
type Action string

const (
	Added   Action = "added"
	Changed Action = "changed"
	Removed Action = "removed"
)

// FieldChange is a field with its values before and after the change; empty: no value.
type FieldChange struct {
	Field string `yaml:"field"`
	From  string `yaml:"from,omitempty"`
	To    string `yaml:"to,omitempty"`
}

// Change is the change of one document.
type Change struct {
	Action Action `yaml:"action"`
	// Document names the document: "settings", "shard s0", "routes".
	Document string        `yaml:"document"`
	Fields   []FieldChange `yaml:"fields,omitempty"`
	// Handovers are the genes that get another owner, if the document is the route map.
	Handovers []router.Handover `yaml:"-"`
}

// String returns a line for the document, and one more for each field or range of genes that changes in it.
func (c Change) String() string {
	var b strings.Builder
	b.WriteString(map[Action]string{Added: "+ ", Changed: "~ ", Removed: "- "}[c.Action] + c.Document)
	for _, f := range c.Fields {
		switch {
		case c.Action != Changed:
			fmt.Fprintf(&b, "\n    %s: %s", f.Field, f.From+f.To)
		case f.From == "":
			fmt.Fprintf(&b, "\n    %s: added %s", f.Field, f.To)
		case f.To == "":
			fmt.Fprintf(&b, "\n    %s: removed %s", f.Field, f.From)
		default:
			fmt.Fprintf(&b, "\n    %s: %s -> %s", f.Field, f.From, f.To)
		}
	}
	for _, h := range c.Handovers {
		fmt.Fprintf(&b, "\n    %s", h)
	}
	return b.String()
}

// Diff returns the changes of the documents from old to next, in the order of the file. If old is nil, everything is added. If next has no
// routes, they don't change. Routes don't change either if only the ranges are split in another way and the owners are the same. Both clusters
// must be valid.
func Diff(old, next *Cluster) ([]Change, error) {
	var changes []Change
	if old == nil {
		old = &Cluster{}
	}
	d := differ{&changes}
	d.settings(old, next)
	for _, name := range (&Cluster{Shards: union(old.Shards, next.Shards)}).ShardNames() {
		before, was := old.Shards[name]
		after, is := next.Shards[name]
		d.document("shard "+string(name), before.Declared(), was, after.Declared(), is)
	}
	for _, name := range (&Cluster{Tables: union(old.Tables, next.Tables)}).TableNames() {
		before, was := old.Tables[name]
		after, is := next.Tables[name]
		d.document("table "+name.String(), before, was, after, is)
	}
	for _, name := range (&Cluster{Users: union(old.Users, next.Users)}).UserNames() {
		before, was := old.Users[name]
		after, is := next.Users[name]
		d.document("user "+name, before, was, after, is)
	}
	for _, name := range (&Cluster{Generators: union(old.Generators, next.Generators)}).GeneratorNames() {
		before, was := old.Generators[name]
		after, is := next.Generators[name]
		d.document("generator "+name, before, was, after, is)
	}
	if next.Routes == nil { // they are kept
		return changes, nil
	}
	return changes, d.routes(old.Routes, next.Routes)
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := make(map[K]V, len(a)+len(b))
	for k, v := range a {
		all[k] = v
	}
	for k, v := range b {
		all[k] = v
	}
	return all
}

type differ struct{ changes *[]Change }

func (d differ) add(c Change) { *d.changes = append(*d.changes, c) }

func (d differ) settings(old, next *Cluster) {
	d.document("settings", old.Settings, old.Settings != (Settings{}), next.Settings, true)
}

func (d differ) document(name string, before any, was bool, after any, is bool) {
	switch {
	case was && is:
		if fields := compareFields(before, after); fields != nil {
			d.add(Change{Action: Changed, Document: name, Fields: fields})
		}
	case was:
		d.add(Change{Action: Removed, Document: name})
	case is:
		d.add(Change{Action: Added, Document: name, Fields: compareFields(nil, after)})
	}
}

func (d differ) routes(old, next *router.Map) error {
	if old == nil {
		c := Change{Action: Added, Document: "routes"}
		for _, name := range next.Shards() {
			c.Fields = append(c.Fields, FieldChange{Field: string(name), To: next.GenesOf(name).String()})
		}
		d.add(c)
		return nil
	}
	handovers, err := router.Diff(old, next)
	if err != nil {
		return errors.New("gene_bits differ, so the routes can't be compared")
	}
	if len(handovers) > 0 {
		d.add(Change{Action: Changed, Document: "routes", Handovers: handovers})
	}
	return nil
}

// compareFields returns the fields that differ, in the order in which they are written. Fields of groups have names such as "id.layout".
func compareFields(before, after any) []FieldChange {
	var changes []FieldChange
	was := flatten(before)
	is := flatten(after)
	for _, f := range is {
		if from := was.value(f.path); from != f.value {
			changes = append(changes, FieldChange{Field: f.path, From: from, To: f.value})
		}
	}
	for _, f := range was {
		if is.value(f.path) == "" {
			changes = append(changes, FieldChange{Field: f.path, From: f.value})
		}
	}
	return changes
}

type field struct{ path, value string }

type fieldList []field

func (l fieldList) value(path string) string {
	for _, f := range l {
		if f.path == path {
			return f.value
		}
	}
	return ""
}

// flatten returns a document's fields that have a value.
func flatten(document any) fieldList {
	if document == nil {
		return nil
	}
	var node yaml.Node
	if err := node.Encode(document); err != nil {
		panic(fmt.Sprintf("cluster: plain fields can't fail to marshal: %v", err))
	}
	var list fieldList
	list.collect("", &node)
	return list
}

// inlineList returns a list on one line. In lists of groups, each group is in braces.
func inlineList(node *yaml.Node) string {
	items := make([]string, 0, len(node.Content))
	for _, item := range node.Content {
		if item.Kind == yaml.ScalarNode {
			items = append(items, item.Value)
			continue
		}
		var group fieldList
		group.collect("", item)
		words := make([]string, 0, len(group))
		for _, f := range group {
			words = append(words, f.path+": "+f.value)
		}
		items = append(items, "{"+strings.Join(words, ", ")+"}")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (l *fieldList) collect(prefix string, node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		path, value := prefix+node.Content[i].Value, node.Content[i+1]
		switch {
		case value.Kind == yaml.MappingNode:
			l.collect(path+".", value)
		case value.Kind == yaml.SequenceNode:
			*l = append(*l, field{path, inlineList(value)})
		case value.Value != "":
			*l = append(*l, field{path, value.Value})
		}
	}
}
