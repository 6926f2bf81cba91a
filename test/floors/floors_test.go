package floors

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestImportsGoDown(t *testing.T) {
	m, err := readModule("../..")
	if err != nil {
		t.Fatal(err)
	}
	b := drawn(t)
	for _, pkg := range slices.Sorted(maps.Keys(m.imports)) {
		if _, ok := b.find(pkg); !ok && !isTest(pkg) {
			t.Error(unknown(pkg))
			continue
		}
		for _, i := range m.imports[pkg] {
			reason := ""
			if imported, own := m.own(i.path); own {
				reason = b.refuse(pkg, imported)
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
		"cmd/dbserver":          "github.com/go-mysql-org/go-mysql/client",
		"internal/test/servers": "locus/cmd/dbserver",
	} {
		found := slices.ContainsFunc(m.imports[pkg], func(i fileImport) bool { return i.path == imported })
		if !found {
			t.Errorf("%s imports %v, and should import %s", pkg, m.imports[pkg], imported)
		}
	}
	for _, pkg := range drawn(t).all() {
		if isTest(pkg) {
			t.Errorf("%s is drawn among the layers, which are of the product", pkg)
		} else if _, there := m.imports[pkg]; !there {
			t.Errorf("%s is drawn and is not there", pkg)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	b := drawn(t)
	for _, test := range []struct{ pkg, imported, reason string }{
		{"proxy/session", "proxy/scatter", ""},
		{"proxy/session", "idgen/gene", ""},
		{"idgen/cipher", "idgen/orderid", ""},
		{"cmd/locus", "config/etcd", ""},
		{"cmd/demo", "cmd/dbserver", ""},
		{"cmd/demo", "config/etcd/embedded", ""},
		{"config/etcd", "config", ""},
		{"internal/test/servers", "cmd/dbserver", ""},
		{"test/shop", "internal/test/servers", ""},

		{"proxy/wire", "idgen/gene", "strictly down"},
		{"router/plan", "idgen/gene", ""},
		{"idgen/segment", "router", "values imports no other layer"},
		{"router", "router/plan", "strictly down"},
		{"idgen/orderid", "idgen", "strictly down"},
		{"cmd/dbserver", "cmd/demo", "strictly down"},
		{"router/plan", "router/cluster", "strictly down"},
		{"router/cluster", "config/strict", ""},
		{"control/jobs", "config/etcd", ""},
		{"control/fleet", "control/doctor", "strictly down"},
		{"control/fleet", "cmd/demo", "and not cmd"},
		{"proxy/session", "config/etcd", "and not beside"},
		{"proxy/session", "control/fleet", "and not control"},
		{"router/live", "config", "and not beside"},
		{"config", "idgen/gene", "beside imports no other layer"},
		{"config", "config/etcd", "strictly down"},
		{"router/plan", "proxy/backend", "without connections"},
		{"idgen/segment", "router/stmt", "know no SQL"},
		{"proxy", "migrate/job", "in the route map alone"},
		{"cmd/dbserver", "test/shop", "never imported by the product"},
		{"internal/test/servers", "test/shop", "another module"},
		{"cmd/dbserver", "internal/test/scale", "never imported by the product"},
		{"internal/test/scale", "proxy", ""},
		{"proxy/new", "proxy/wire", "proxy/new is not drawn"},
		{"proxy", "proxy/new", "proxy/new is not drawn"},
	} {
		check(t, test.pkg, test.imported, b.refuse(test.pkg, test.imported), test.reason)
	}
}

func TestWhichLibrariesAreRefused(t *testing.T) {
	for _, test := range []struct{ pkg, library, reason string }{
		{"router/stmt", "github.com/pingcap/tidb/pkg/parser/ast", ""},
		{"config/etcd", "go.etcd.io/etcd/client/v3", ""},
		{"config/etcd/embedded", "go.etcd.io/etcd/server/v3/embed", ""},
		{"proxy/backend", "github.com/go-mysql-org/go-mysql/client", ""},
		{"internal/test/servers", "github.com/go-sql-driver/mysql", ""},

		{"router/plan", "github.com/pingcap/tidb/pkg/parser/ast", "only router/stmt may"},
		{"cmd/locus", "go.etcd.io/etcd/client/v3", "only config/etcd and config/etcd/embedded may"},
		{"proxy", "github.com/go-mysql-org/go-mysql/replication", "only migrate/changes may"},
		{"cmd/demo", "github.com/go-sql-driver/mysql", "the tests' client"},
		{"proxy/backend", "testing", "does not test"},
	} {
		check(t, test.pkg, test.library, refuseLibrary(test.pkg, test.library), test.reason)
	}
}

func drawn(t *testing.T) building {
	t.Helper()
	b, err := readBuilding("../../" + drawing)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A drawing that is no table is refused: it would let imports through.
func TestDrawingsThatAreNoTables(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"# nothing\n", "draws no layers"},
		{"cmd  imports values\n  cmd/locus\nvalues  imports cmd\n  idgen\n", "values imports cmd, which is no layer below it"},
		{"cmd  imports valeus\n  cmd/locus\nvalues  imports nothing\n  idgen\n", "cmd imports valeus"},
		{"cmd  imports values\n  cmd/locus  idgen\nvalues  imports nothing\n  idgen\n", "idgen is drawn twice"},
	} {
		path := filepath.Join(t.TempDir(), "drawing.md")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readBuilding(path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.text, err, test.want)
		}
	}
}

func check(t *testing.T, pkg, imported, got, want string) {
	t.Helper()
	if (want == "") != (got == "") || !strings.Contains(got, want) {
		t.Errorf("%s → %s: refused with %q, want %q", pkg, imported, got, want)
	}
}
