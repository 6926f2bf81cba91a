package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v4"
)

// format is the value of --output.
type format string

const (
	table  format = "table"
	asJSON format = "json"
	asYAML format = "yaml"
)

func (f *format) String() string { return string(*f) }

func (f *format) Type() string { return "format" }

// Set implements pflag.Value.
func (f *format) Set(text string) error {
	switch format(text) {
	case table, asJSON, asYAML:
		*f = format(text)
		return nil
	}
	return fmt.Errorf("use table, json or yaml")
}

// show writes a value whose fields have JSON names, or what people gets to see.
func (in *invocation) show(v any, people func(io.Writer)) error {
	if in.output == table {
		people(in.stdout)
		return nil
	}
	text, err := in.encoded(v)
	if err != nil {
		return err
	}
	_, err = in.stdout.Write(text)
	return err
}

// encoded is a value for programs.
func (in *invocation) encoded(v any) ([]byte, error) {
	text, err := toJSON(v)
	if err == nil && in.output == asYAML {
		text, err = jsonToYAML(text)
	}
	return text, err
}

func toJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return out.Bytes(), err
}

// jsonToYAML keeps the fields in their order. Every JSON text is YAML, so all
// that changes is the style.
func jsonToYAML(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	plain(&document)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(&document)
	return out.Bytes(), err
}

// plain drops the braces and those quotes that are not needed.
func plain(node *yaml.Node) {
	node.Style = 0
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && strings.Contains(node.Value, "\n") {
		node.Style = yaml.LiteralStyle
	}
	for _, child := range node.Content {
		plain(child)
	}
}

// fromYAML is a value whose fields have YAML names, as JSON would hold it.
func fromYAML(text []byte) (any, error) {
	var v any
	err := yaml.Unmarshal(text, &v)
	return v, err
}

// columns writes rows of cells, the first row being the heads.
func columns(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if cell == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // into memory or the terminal, whose errors nobody could read
}
