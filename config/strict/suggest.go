package strict

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// DidYouMean returns the end of a sentence that names the nearest of the names, or "" if none is near. Case counts only if nothing else
// differs.
func DidYouMean(name string, names []string) string {
	if len(names) == 0 || slices.Contains(names, name) {
		return ""
	}
	folded := strings.ToLower(name)
	from := func(other string) int { return distance(folded, strings.ToLower(other)) }
	best := slices.MinFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(from(a), from(b)), cmp.Compare(a, b)) })
	if d := from(best); d > farthest(name) || d >= len(best) {
		return ""
	}
	return ": did you mean " + best + "?"
}

// farthest returns how many letters may differ from those of the name that was meant.
func farthest(name string) int { return min(2, (len(name)+1)/3) }

// distance counts the letters to insert, delete, change or swap with their neighbour.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// OneOf is DidYouMean for a value of an enumerated type.
func OneOf[T ~string](value T, values ...T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return DidYouMean(string(value), names)
}

// fieldsOf returns the names of the fields of all types that a document consists of, by the types' names in YAML's errors.
func fieldsOf(v any) map[string][]string {
	fields := map[string][]string{}
	collect(reflect.TypeOf(v), fields)
	return fields
}

func collect(t reflect.Type, fields map[string][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		collect(t.Elem(), fields)
	case reflect.Struct:
		if _, seen := fields[t.String()]; seen {
			return
		}
		fields[t.String()] = named(t)
		for i := range t.NumField() {
			collect(t.Field(i).Type, fields)
		}
	default:
	}
}

// named returns the names that a type's fields have in YAML, those of embedded types included.
func named(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline") && f.Type.Kind() == reflect.Struct:
			names = append(names, named(f.Type)...)
		case name != "" && name != "-":
			names = append(names, name)
		}
	}
	return names
}
