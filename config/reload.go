package config

import (
	"reflect"
	"slices"
)

// reloadable are the fields that a process takes over while it runs. What the files
// hold that a configuration names is read again as well, and passwords are at every
// login.
var reloadable = []string{
	"http.tls.cert", "http.tls.key", "log.level", "proxy.slow_statement", "proxy.tls.cert", "proxy.tls.key",
}

// Reloadable are the fields that a process takes over while it runs, in their order.
func Reloadable() []string { return slices.Clone(reloadable) }

// Change is a field in which two configurations differ.
type Change struct {
	Field string
	// Reloads: a process takes it over while it runs. Else it counts from the next
	// start.
	Reloads bool
}

// Changes are the fields in which the next configuration differs from this one. That
// a certificate is there at all can't be changed while a port is open.
func (c *Config) Changes(next *Config) []Change {
	var list []Change
	different(reflect.ValueOf(*c), reflect.ValueOf(*next), "", func(field string) {
		list = append(list, Change{field, slices.Contains(reloadable, field) && !c.gainsTLS(next, field)})
	})
	return list
}

func (c *Config) gainsTLS(next *Config, field string) bool {
	switch field {
	case "proxy.tls.cert", "proxy.tls.key":
		return (c.Proxy.TLS.Cert == "") != (next.Proxy.TLS.Cert == "")
	case "http.tls.cert", "http.tls.key":
		return (c.HTTP.TLS.Cert == "") != (next.HTTP.TLS.Cert == "")
	}
	return false
}

// different tells the fields that differ, by their names in YAML.
func different(a, b reflect.Value, prefix string, tell func(field string)) {
	for i := range a.NumField() {
		name := prefix + a.Type().Field(i).Tag.Get("yaml")
		x, y := a.Field(i), b.Field(i)
		switch {
		case x.Kind() == reflect.Struct:
			different(x, y, name+".", tell)
		case !reflect.DeepEqual(x.Interface(), y.Interface()):
			tell(name)
		}
	}
}
