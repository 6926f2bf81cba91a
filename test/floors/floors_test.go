package floors

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestImportsGoDown(t *testing.T) {
	m, err := readModule("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range slices.Sorted(maps.Keys(m.imports)) {
		if _, ok := find(pkg); !ok && !within(pkg, "test") {
			t.Error(unknown(pkg))
			continue
		}
		for _, i := range m.imports[pkg] {
			reason := ""
			if imported, own := m.own(i.path); own {
				reason = refuse(pkg, imported)
			} else {
				reason = refuseLibrary(pkg, i.path)
			}
			if reason != "" {
				t.Errorf("%s: %s must not import %s: %s", i.at, pkg, i.path, reason)
			}
		}
	}
}

// The tree must be read at all for the test above to mean anything.
func TestTheTreeIsRead(t *testing.T) {
	m, err := readModule("../..")
	if err != nil {
		t.Fatal(err)
	}
	if m.path != "locus" {
		t.Errorf("module is %q", m.path)
	}
	for pkg, imported := range map[string]string{
		"cmd/dbserver": "github.com/go-mysql-org/go-mysql/client",
		"test/servers": "locus/cmd/dbserver",
	} {
		found := slices.ContainsFunc(m.imports[pkg], func(i fileImport) bool { return i.path == imported })
		if !found {
			t.Errorf("%s imports %v, and should import %s", pkg, m.imports[pkg], imported)
		}
	}
	if i := slices.IndexFunc(building, func(s standing) bool { return strings.HasPrefix(s.pkg, "test") }); i >= 0 {
		t.Errorf("%s is in the table, which is of the product", building[i].pkg)
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, test := range []struct{ pkg, imported, reason string }{
		{"proxy/session", "proxy/scatter", ""},
		{"proxy/session", "router/gene", ""},
		{"idgen/cipher", "idgen/orderid", ""},
		{"cmd/locus", "config/etcd", ""},
		{"cmd/demo", "cmd/dbserver", ""},
		{"cmd/demo", "config/etcd/embedded", ""},
		{"config/etcd", "config", ""},
		{"test/servers", "cmd/dbserver", ""},

		{"proxy/wire", "router/gene", "strictly down"},
		{"router", "router/plan", "from floor 1.1 to floor 2.1"},
		{"idgen/orderid", "idgen", "strictly down"},
		{"cmd/dbserver", "cmd/demo", "strictly down"},
		{"router/plan", "router/cluster", "strictly down"},
		{"proxy/session", "config/etcd", "cmd alone imports it"},
		{"router/live", "config", "cmd alone imports it"},
		{"config", "router/gene", "knows nothing of it"},
		{"config", "config/etcd", "knows nothing of it"},
		{"proxy", "cmd/demo", "cmd is imported by cmd alone"},
		{"router/plan", "proxy/wire", "without connections"},
		{"idgen/segment", "router/stmt", "know no SQL"},
		{"cmd/dbserver", "test/servers", "never imported by the product"},
		{"proxy/new", "proxy/wire", "proxy/new is not in the table"},
		{"proxy", "proxy/new", "proxy/new is not in the table"},
	} {
		check(t, test.pkg, test.imported, refuse(test.pkg, test.imported), test.reason)
	}
}

func TestWhichLibrariesAreRefused(t *testing.T) {
	for _, test := range []struct{ pkg, library, reason string }{
		{"router/stmt", "github.com/pingcap/tidb/pkg/parser/ast", ""},
		{"config/etcd", "go.etcd.io/etcd/client/v3", ""},
		{"config/etcd/embedded", "go.etcd.io/etcd/server/v3/embed", ""},
		{"proxy/backend", "github.com/go-mysql-org/go-mysql/client", ""},
		{"test/servers", "github.com/go-sql-driver/mysql", ""},

		{"router/plan", "github.com/pingcap/tidb/pkg/parser/ast", "only router/stmt may"},
		{"cmd/locus", "go.etcd.io/etcd/client/v3", "only config/etcd and config/etcd/embedded may"},
		{"proxy", "github.com/go-mysql-org/go-mysql/replication", "only migrate/changes may"},
		{"cmd/demo", "github.com/go-sql-driver/mysql", "the tests' client"},
		{"proxy/backend", "testing", "does not test"},
	} {
		check(t, test.pkg, test.library, refuseLibrary(test.pkg, test.library), test.reason)
	}
}

func check(t *testing.T, pkg, imported, got, want string) {
	t.Helper()
	if (want == "") != (got == "") || !strings.Contains(got, want) {
		t.Errorf("%s → %s: refused with %q, want %q", pkg, imported, got, want)
	}
}
