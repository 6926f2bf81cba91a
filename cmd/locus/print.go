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

// show prints a value, whose fields have JSON names, in the output format. For people it calls the given
// function.
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

// encoded returns a value in the output format for programs.
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

// jsonToYAML converts JSON to YAML and keeps the order of the fields. Every JSON text is YAML, so only the
// style changes.
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

// plain removes braces and unnecessary quotes.
func plain(node *yaml.Node) {
	node.Style = 0
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && strings.Contains(node.Value, "\n") {
		node.Style = yaml.LiteralStyle
	}
	for _, child := range node.Content {
		plain(child)
	}
}

// fromYAML converts YAML to the values that decoding JSON would give.
func fromYAML(text []byte) (any, error) {
	var v any
	err := yaml.Unmarshal(text, &v)
	return v, err
}

// columns writes rows of cells as a table. The first row contains the headings.
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
	_ = t.Flush() // it writes to memory or to the terminal, where an error could not be reported
}
