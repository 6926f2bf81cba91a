//go:build long

package gosqldriver

import (
	"testing"

	"locus/test/servers"
	"locus/test/suites/stand"
)

// As many clients at once as the server takes.
func TestConcurrent(t *testing.T) {
	dir := module.Copy(t)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := stand.Start(t, engine)
		run := tests(dir, "MYSQL_TEST_CONCURRENT=1")
		cases := []string{"TestConcurrent"}
		stand.Compare(t, run(t, s.Direct, cases), run(t, s.Proxy, cases), nil)
	})
}
