package docs

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/handshake"
)

const compatibilityDocument = "docs/reference/compatibility.md"

// The dispatched commands are those that the table of commands lists as supported.
func TestEveryCommandIsDocumented(t *testing.T) {
	dispatched := selected(t, "mysql", "COM_", "../../proxy/session/command.go")
	var documented []string
	for _, r := range tableOf(t, read(t, compatibilityDocument), "command", "supported") {
		if name := code(r["command"]); strings.HasPrefix(name, "COM_") {
			documented = append(documented, name)
		}
	}
	slices.Sort(documented)
	if !slices.Equal(dispatched, documented) {
		t.Errorf("dispatched are %q, documented are %q", dispatched, documented)
	}
}

func TestOfferedCapabilities(t *testing.T) {
	document := read(t, compatibilityDocument)
	line := func(begins string) string {
		for l := range strings.Lines(document) {
			if strings.HasPrefix(l, begins) {
				return l
			}
		}
		t.Fatalf("no line begins with %q", begins)
		return ""
	}
	offered, not := line("| Offered "), line("| Not offered ")
	named := uint32(0)
	for name, flag := range capabilities {
		is, isNot := strings.Contains(offered, "`"+name+"`"), strings.Contains(not, "`"+name+"`")
		if want := handshake.Capabilities&flag != 0; is != want || isNot == want {
			t.Errorf("%s: offered is %v, and the document lists it as offered %v, not offered %v", name, want, is, isNot)
		}
		named |= flag
	}
	if rest := handshake.Capabilities &^ named; rest != 0 {
		t.Errorf("capabilities %#x are offered and not looked for", rest)
	}
}

// capabilities are those that clients and servers of today know. CLIENT_SSL is
// offered if there is a certificate, which there always is.
var capabilities = map[string]uint32{
	"CLIENT_LONG_PASSWORD":                  mysql.CLIENT_LONG_PASSWORD,
	"CLIENT_FOUND_ROWS":                     mysql.CLIENT_FOUND_ROWS,
	"CLIENT_LONG_FLAG":                      mysql.CLIENT_LONG_FLAG,
	"CLIENT_CONNECT_WITH_DB":                mysql.CLIENT_CONNECT_WITH_DB,
	"CLIENT_COMPRESS":                       mysql.CLIENT_COMPRESS,
	"CLIENT_LOCAL_FILES":                    mysql.CLIENT_LOCAL_FILES,
	"CLIENT_PROTOCOL_41":                    mysql.CLIENT_PROTOCOL_41,
	"CLIENT_IGNORE_SPACE":                   mysql.CLIENT_IGNORE_SPACE,
	"CLIENT_INTERACTIVE":                    mysql.CLIENT_INTERACTIVE,
	"CLIENT_TRANSACTIONS":                   mysql.CLIENT_TRANSACTIONS,
	"CLIENT_SECURE_CONNECTION":              mysql.CLIENT_SECURE_CONNECTION,
	"CLIENT_MULTI_STATEMENTS":               mysql.CLIENT_MULTI_STATEMENTS,
	"CLIENT_MULTI_RESULTS":                  mysql.CLIENT_MULTI_RESULTS,
	"CLIENT_PS_MULTI_RESULTS":               mysql.CLIENT_PS_MULTI_RESULTS,
	"CLIENT_PLUGIN_AUTH":                    mysql.CLIENT_PLUGIN_AUTH,
	"CLIENT_CONNECT_ATTRS":                  mysql.CLIENT_CONNECT_ATTRS,
	"CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA": mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA,
	"CLIENT_SESSION_TRACK":                  mysql.CLIENT_SESSION_TRACK,
	"CLIENT_DEPRECATE_EOF":                  mysql.CLIENT_DEPRECATE_EOF,
	"CLIENT_OPTIONAL_RESULTSET_METADATA":    mysql.CLIENT_OPTIONAL_RESULTSET_METADATA,
	"CLIENT_QUERY_ATTRIBUTES":               mysql.CLIENT_QUERY_ATTRIBUTES,
	"CLIENT_ZSTD_COMPRESSION_ALGORITHM":     mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM,
}
