package cluster

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Each field can be set to every value that a file can contain, and reset.
func TestUserFieldsAreSet(t *testing.T) {
	texts := map[string]string{
		"tls": "required", "databases": "shop, crm", "tables": "shop.orders", "read_only": "true", "ddl": "false", "scatter": "warn",
		"scatter_writes": "allow", "unfiltered": "refuse", "large_offset": "refuse", "gather_rows": "1000", "gather_mib": "3",
		"large_gather": "warn", "max_connections": "7", "statement_timeout": "30s", "slow_statement": "1s", "read": "session", "admin": "true",
	}
	secret := User{Secret: "users/app"}
	for _, field := range UserFields() {
		text, known := texts[field]
		if !known {
			t.Errorf("%s: no value to try", field)
			continue
		}
		set := secret
		if err := set.Set(field, text); err != nil {
			t.Errorf("%s: %v", field, err)
		}
		if strings.Contains(field, "databases") || strings.Contains(field, "tables") {
			text = "[" + text + "]"
		}
		var file User
		if err := yaml.Unmarshal([]byte("secret: users/app\n"+field+": "+text), &file); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(set, file) || reflect.DeepEqual(set, secret) {
			t.Errorf("%s: set to %+v, the file says %+v", field, set, file)
		}
		if err := set.Set(field, ""); err != nil || !reflect.DeepEqual(set, secret) {
			t.Errorf("%s is reset to %+v, %v", field, set, err)
		}
	}
}

func TestUserFieldsAreRefused(t *testing.T) {
	for assignment, want := range map[string]string{
		"secret=x":                "secret is set by locus user passwd",
		"authentication_string=x": "authentication_string is set by locus user passwd",
		"scater=warn":             `"scater" is no field of a user: did you mean scatter?`,
		"password=x":              `"password" is no field of a user; the fields are tls, databases`,
		"ddl=0":                   "ddl=0: write true or false",
		"admin=yes":               "admin=yes: write true or false",
		"max_connections=many":    "max_connections=many: write a number from 0 on",
		"gather_rows=-1":          "gather_rows=-1: write a number from 0 on",
		"databases=a,,b":          "databases=a,,b: write names with a comma between each two",
	} {
		field, text, _ := strings.Cut(assignment, "=")
		var u User
		if err := u.Set(field, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", assignment, err, want)
		}
		if !reflect.DeepEqual(u, User{}) {
			t.Errorf("%s has changed the user: %+v", assignment, u)
		}
	}
}
