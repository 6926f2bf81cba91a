package console

import (
	"encoding"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/golden"
)

// fieldsDocument lists the fields of every answer below /v1/, for who reads them.
const fieldsDocument = "../../docs/reference/http-v1.txt"

const fieldsHead = `# Every field of every answer and of every body below /v1/ (schema 1), with its type. A field with "?" may be missing, [] is a list,
# and {} an object whose keys are names. Written by: go test ./control/console -run TestFieldsStay -update
`

const bodiesHead = `
# Every field of every body. A field with "?" may be left out. Previews take the same bodies: split, merge and import.
`

// TestFieldsStay compares the answers with the documented fields. Within a schema version fields may be added, but no field
// may be removed or get another type.
func TestFieldsStay(t *testing.T) {
	answers := []struct {
		path string
		of   any
	}{
		{"GET /v1/state", stateAnswer{}},
		{"GET /v1/history", historyAnswer{}},
		{"GET /v1/moves", pastAnswer{}},
		{"GET /v1/moves/{id}", journalAnswer{}},
		{"GET /v1/moves/{id}/differences", differencesAnswer{}},
		{"GET /v1/genes", genesAnswer{}},
		{"GET /v1/proposals", proposalsAnswer{}},
		{"GET /v1/statements", statementsAnswer{}},
		{"GET /v1/statements/{digest}", digestAnswer{}},
		{"GET /v1/sessions", sessionsAnswer{}},
		{"GET /v1/tables", tablesAnswer{}},
		{"GET /v1/tables/sizes", sizesAnswer{}},
		{"GET /v1/users", usersAnswer{}},
		{"GET /v1/generators", generatorsAnswer{}},
		{"GET /v1/routes", routesAnswer{}},
		{"GET /v1/events", eventsAnswer{}},
		{"GET /v1/findings", findingsAnswer{}},
		{"POST /v1/calls/{procedure}", called{}},
		{"POST /v1/calls/switchover, promote and without_replicas", switchedOver{}},
		{"POST /v1/calls/drain and evict", draining{}},
		{"POST /v1/calls/shard_remove and routes_rollback", changed{}},
		{"POST /v1/calls/shard_fill", filledShard{}},
		{"POST /v1/calls/rebalance", rebalanced{}},
		{"POST /v1/calls/table_add and table_drop", tableCalled{}},
		{"POST /v1/calls/kill_session and kill_statement", killed{}},
		{"POST /v1/calls/acknowledge and withdraw", acknowledged{}},
		{"POST /v1/calls/explain", explainAnswer{}},
		{"POST /v1/previews/{procedure}", previewed{}},
	}
	text := fieldsHead
	for _, a := range answers {
		var lines []string
		fieldsOf(reflect.TypeOf(a.of), "", &lines)
		text += "\n" + a.path + "\n  " + strings.Join(lines, "\n  ") + "\n"
	}
	text += bodiesHead
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		var lines []string
		fieldsOf(requests[name].of, "", &lines)
		text += "\nPOST /v1/calls/" + name + " takes\n  " + strings.Join(lines, "\n  ") + "\n"
	}
	golden.Update(t, fieldsDocument, text)
	known, err := os.ReadFile(fieldsDocument)
	if err != nil {
		t.Fatal(err)
	}
	have, want := strings.Split(text, "\n"), strings.Split(string(known), "\n")
	for _, line := range want {
		if !slices.Contains(have, line) {
			t.Errorf("%q is documented and no more: it takes another schema, below another path", line)
		}
	}
	if text != string(known) && !t.Failed() {
		t.Errorf("fields are not documented: go test ./control/console -run TestFieldsStay -update")
	}
}

// fieldsOf lists the fields of an object as encoding/json writes them. This includes the fields of embedded structs, unless an
// outer field hides them.
func fieldsOf(of reflect.Type, within string, lines *[]string) {
	hidden := map[string]bool{}
	for i := range of.NumField() {
		if name, _ := nameOf(of.Field(i)); name != "" {
			hidden[name] = true
		}
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, maybe := nameOf(f)
		switch {
		case f.Anonymous && name == "":
			var inner []string
			fieldsOf(element(f.Type), within, &inner)
			for _, line := range inner {
				first, _, _ := strings.Cut(strings.TrimPrefix(line, within), " ")
				first, _, _ = strings.Cut(strings.TrimRight(first, "?"), ".")
				if !hidden[strings.TrimRight(first, "[]{}?")] {
					*lines = append(*lines, line)
				}
			}
		case name != "":
			value(f.Type, within+name, maybe, lines)
		}
	}
}

func nameOf(f reflect.StructField) (name string, maybe bool) {
	tag := f.Tag.Get("json")
	if !f.IsExported() || tag == "-" {
		return "", false
	}
	name, options, _ := strings.Cut(tag, ",")
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name, strings.Contains(options, "omit")
}

func element(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// value adds one line for a field, or one line for each field of an object in it.
func value(t reflect.Type, name string, maybe bool, lines *[]string) {
	t = element(t)
	mark := map[bool]string{true: "?"}[maybe]
	line := func(kind string) { *lines = append(*lines, name+mark+" "+kind) }
	switch {
	case t == reflect.TypeFor[time.Time]():
		line("time")
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		line("text")
	case t.Kind() == reflect.Slice && element(t.Elem()).Kind() != reflect.Struct, t.Kind() == reflect.Array:
		value(t.Elem(), name+"[]", maybe, lines)
	case t.Kind() == reflect.Slice:
		value(t.Elem(), name+mark+"[]", false, lines)
	case t.Kind() == reflect.Map:
		value(t.Elem(), name+"{}", maybe, lines)
	case t.Kind() == reflect.Struct:
		fieldsOf(t, name+mark+".", lines)
	case t.Kind() == reflect.Bool:
		line("true or false")
	case t.Kind() == reflect.String:
		line("text")
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64:
		line("number")
	default:
		line(fmt.Sprint(t))
	}
}
