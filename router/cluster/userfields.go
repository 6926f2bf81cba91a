package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"locus/config/strict"
)

// UserFields returns the names of the fields that [User.Set] sets, in the order of the documents.
func UserFields() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[User]()) {
		if name := fieldName(f); !isPassword(name) {
			names = append(names, name)
		}
	}
	return names
}

func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

func isPassword(field string) bool { return field == "secret" || field == "authentication_string" }

// Set sets a field, which is named as in cluster.yaml, to the value of a text. The elements of a list are separated by commas.
// An empty text resets the field to its default. The error names the field. Set doesn't check the rules of [Cluster.Validate].
func (u *User) Set(field, text string) error {
	if isPassword(field) {
		return fmt.Errorf("%s is set by locus user passwd, or by locus apply", field)
	}
	value := reflect.ValueOf(u).Elem()
	for _, f := range reflect.VisibleFields(value.Type()) {
		if fieldName(f) == field {
			return setText(value.FieldByIndex(f.Index), field, text)
		}
	}
	names := UserFields()
	if meant := strict.DidYouMean(field, names); meant != "" {
		return fmt.Errorf("%q is no field of a user%s", field, meant)
	}
	return fmt.Errorf("%q is no field of a user; the fields are %s", field, strings.Join(names, ", "))
}

// setText sets a field to the value of a text, or to its zero value for an empty text.
func setText(v reflect.Value, field, text string) error {
	if text == "" {
		v.SetZero()
		return nil
	}
	switch target := v.Addr().Interface().(type) {
	case *bool, **bool:
		is := text == "true"
		if !is && text != "false" {
			return fmt.Errorf("%s=%s: write true or false", field, text)
		}
		if p, pointer := target.(**bool); pointer {
			*p = &is
			return nil
		}
		v.SetBool(is)
	case *int, *int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil || n < 0 {
			return fmt.Errorf("%s=%s: write a number from 0 on", field, text)
		}
		v.SetInt(n)
	case *[]string:
		list := strings.Split(text, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		if slices.Contains(list, "") {
			return fmt.Errorf("%s=%s: write names with a comma between each two", field, text)
		}
		*target = list
	default: // the kinds of string
		v.SetString(text)
	}
	return nil
}
