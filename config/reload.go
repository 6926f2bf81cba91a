package config

import (
	"reflect"
	"slices"
)

// reloadable lists the fields that a running process applies. The files that a configuration names are read again too.
// Passwords are read at every login.
var reloadable = []string{
	"http.tls.cert", "http.tls.key", "ids.tls.cert", "ids.tls.key", "log.level", "proxy.slow_statement", "proxy.tls.cert", "proxy.tls.key",
}

// Reloadable returns the fields that a running process applies, sorted.
func Reloadable() []string { return slices.Clone(reloadable) }

// Change is a field that differs between two configurations.
type Change struct {
	Field string
	// Reloads reports whether a running process applies the change. Otherwise it takes effect at the next start.
	Reloads bool
}

// Changes returns the fields in which the next configuration differs from this one. Whether there is a certificate
// can't be changed while the port is open.
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
	case "ids.tls.cert", "ids.tls.key":
		return (c.IDs.TLS.Cert == "") != (next.IDs.TLS.Cert == "")
	}
	return false
}

// different calls tell with the YAML names of the fields that differ.
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
