package product

import (
	"fmt"
	"os"
	"testing"
)

// Main builds versions of the binary, stores the path of each in its variable, and runs the tests. It returns the status to exit with.
func Main(m *testing.M, versions map[string]*string) int {
	for version, binary := range versions {
		path, err := Build(version)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		*binary = path
	}
	return m.Run()
}
