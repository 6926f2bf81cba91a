// Package strict reads YAML without ignoring anything. Its errors are for authors of documents: they contain
// line numbers, and no names of Go types. It knows no document.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// ErrEmpty means that a text has no document.
var ErrEmpty = errors.New("the document is empty")

// Decode reads one YAML document into v, a pointer. Errors are: a field that v doesn't have, a duplicate field, a value
// of the wrong kind, a second document and an empty text. Errors about fields and values name their lines and are
// reported all at once. After an error v may be partly filled.
func Decode(text []byte, v any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	switch err := decoder.Decode(v); {
	case errors.Is(err, io.EOF):
		return ErrEmpty
	case err != nil:
		return plainError(err, fieldsOf(v))
	}
	var next yaml.Node
	switch err := decoder.Decode(&next); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return plainError(err, nil)
	default:
		return fmt.Errorf("line %d: a second document begins here; only one is read", next.Line)
	}
}

var (
	unknownField = regexp.MustCompile(`field (.*) not found in type (\S+)`)
	wrongKind    = regexp.MustCompile("cannot construct !!(\\S+) (?:(`.*`) )?into (\\S+)")
)

// kinds maps YAML's and Go's names of types to words.
var kinds = map[string]string{
	"seq": "a list", "map": "a group of fields", "str": "text", "int": "a whole number", "float": "a number",
	"bool": "true or false", "string": "text", "[]string": "a list of texts",
	"int8": "a whole number", "int16": "a whole number", "int32": "a whole number", "int64": "a whole number",
	"uint": "a whole number", "uint8": "a whole number", "uint16": "a whole number", "uint32": "a whole number", "uint64": "a whole number",
}

// plainError words YAML's errors without the names of Go types.
func plainError(err error, fields map[string][]string) error {
	var found *yaml.LoadErrors
	if !errors.As(err, &found) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	problems := make([]error, 0, len(found.Errors))
	for _, e := range found.Errors {
		text := e.Message
		if m := unknownField.FindStringSubmatch(text); m != nil {
			text = strings.Replace(text, m[0], fmt.Sprintf("unknown field %q%s", m[1], DidYouMean(m[1], fields[m[2]])), 1)
		}
		if m := wrongKind.FindStringSubmatchIndex(text); m != nil {
			text = text[:m[0]] + wrongKindText(wrongKind.FindStringSubmatch(text)) + text[m[1]:]
		}
		problems = append(problems, fmt.Errorf("line %d: %s", e.Mark.Line, text))
	}
	return errors.Join(problems...)
}

// wrongKindText words what wrongKind matched. It omits names of own Go types, which mean nothing to a document's
// author.
func wrongKindText(match []string) string {
	have, known := kinds[match[1]]
	if !known {
		have = "a value of type " + match[1]
	}
	if value := match[2]; value != "" {
		have += " " + value
	}
	want, known := kinds[match[3]]
	if !known {
		return have + " is not expected here"
	}
	return have + ", where " + want + " is expected"
}

// AtLine returns an error for a type's UnmarshalYAML. The decoder collects such errors and continues.
func AtLine(node *yaml.Node, format string, args ...any) error {
	return Problems([]*yaml.LoadError{Problem(node.Line, fmt.Sprintf(format, args...))})
}

// Problem is one of several errors that a type's UnmarshalYAML returns together with [Problems].
func Problem(line int, text string) *yaml.LoadError {
	return yaml.NewLoadError(yaml.ConstructorStage, text, yaml.Mark{Line: line}, nil)
}

// Problems returns an error that holds all of found, or nil if there is none.
func Problems(found []*yaml.LoadError) error {
	if len(found) == 0 {
		return nil
	}
	return &yaml.LoadErrors{Errors: found}
}
