package suites

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/suites/gomodule"
	"locus/test/suites/stand"
)

// module is the tests of a Go module. The environment and the arguments are filled in.
type module struct {
	gomodule.Module
	gomodule.Tests

	// scenarios is a directory with tests of this repository. They are copied into ./scenarios of the module, with the modules
	// that they require.
	scenarios string
	require   []string
	// inShop are the scenarios that use the shop's tables. The other tests have to skip them.
	inShop []string
}

func (m module) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	dir := m.Copy(t)
	if m.scenarios == "" {
		return m.in(dir, m.Tests, nil), nil
	}
	if err := os.CopyFS(filepath.Join(dir, "scenarios"), os.DirFS(m.scenarios)); err != nil {
		t.Fatal(err)
	}
	edit := []string{"go", "mod", "edit", "-go=1.26"} // the language of the scenarios
	for _, required := range m.require {
		edit = append(edit, "-require="+required)
	}
	stand.Command{Dir: dir, Limit: 5 * time.Minute, Args: edit}.Output(t)
	shop := m.Tests
	shop.Packages, shop.Skip = []string{"./scenarios"}, ""
	return m.in(dir, m.Tests, nil), m.in(dir, shop, m.inShop)
}

// in runs tests in the copy of the module: the tests with the given names, or the usual ones.
func (m module) in(dir string, tests gomodule.Tests, usual []string) run {
	return func(t *testing.T, at place, names []string) stand.Outcomes {
		t.Helper()
		tests := tests
		tests.Dir, tests.Env, tests.Args = dir, at.fill(t, tests.Env), at.fill(t, tests.Args)
		if len(names) == 0 {
			names = usual
		}
		return tests.Run(t, names)
	}
}
