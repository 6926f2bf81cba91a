package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// decodeStrict reads one YAML document. Unknown and repeated fields are errors
// that name their lines, unless the document says that a newer build wrote it,
// which is then the error.
func decodeStrict(text []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	switch err := decoder.Decode(into); {
	case errors.Is(err, io.EOF):
		return errors.New("the document is empty")
	case err != nil:
		if newer := checkSchema(schemaOf(text)); newer != nil {
			return newer
		}
		return withoutTypes(err)
	}
	var next yaml.Node
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		return errors.New("more follows the first YAML document; only one is read")
	}
	return checkSchema(schemaOf(text))
}

// schemaOf is the version that a document says it has: this build's if none.
func schemaOf(text []byte) int {
	only := struct{ Schema int }{Schema}
	if yaml.Unmarshal(text, &only) != nil {
		return Schema
	}
	return only.Schema
}

func checkSchema(n int) error {
	switch {
	case n > Schema:
		return fmt.Errorf("schema %d is newer than %d, which this build reads: upgrade locus", n, Schema)
	case n < 1:
		return fmt.Errorf("schema %d: schemas begin at 1", n)
	}
	return nil
}

var (
	unknownField = regexp.MustCompile(`field (.*) not found in type \S+`)
	goType       = regexp.MustCompile(`cannot unmarshal !!(\S+) (.*)into \S+`)
)

// withoutTypes words YAML's errors without the names of Go's types, one error
// per problem.
func withoutTypes(err error) error {
	var mismatch *yaml.TypeError
	if !errors.As(err, &mismatch) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	problems := make([]error, 0, len(mismatch.Errors))
	for _, text := range mismatch.Errors {
		text = unknownField.ReplaceAllString(text, `unknown field "$1"`)
		text = goType.ReplaceAllString(text, "a value of type $1 ${2}doesn't belong here")
		problems = append(problems, errors.New(text))
	}
	return errors.Join(problems...)
}
