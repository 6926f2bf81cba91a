package stand

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"locus/test/servers"
)

// Exceptions are the cases that may fail through the proxy, each with the
// reason.
type Exceptions map[string]string

// Excepted reads exceptions.txt of the test's directory, and beside it
// exceptions.<engine>.txt of what fails with one engine alone. A line is a
// case's name, a tab and the reason; empty lines and lines that begin with # are
// left out. Without the files there are no exceptions.
func Excepted(t testing.TB, engine servers.Engine) Exceptions {
	t.Helper()
	x := Exceptions{}
	for _, path := range []string{"exceptions.txt", fmt.Sprintf("exceptions.%s.txt", engine)} {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = x.read(string(text))
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return x
}

func (x Exceptions) read(text string) error {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(line, "\t")
		if reason = strings.TrimSpace(reason); !ok || reason == "" {
			return fmt.Errorf("want a case, a tab and a reason: %q", line)
		}
		if _, twice := x[name]; twice {
			return fmt.Errorf("listed twice: %q", name)
		}
		x[name] = reason
	}
	return nil
}
