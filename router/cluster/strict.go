package cluster

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"locus/config/strict"
)

// decodeStrict decodes one YAML document. If a newer build wrote it, the error is about that: its unknown fields are no mistakes.
func decodeStrict(text []byte, into any) error {
	err := strict.Decode(text, into)
	if newer := checkSchema(schemaOf(text)); newer != nil {
		return newer
	}
	return err
}

// schemaOf returns the schema version in a document, or this build's if it has none.
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
