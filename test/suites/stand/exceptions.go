package stand

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locus/internal/test/servers"
)

// Exceptions are the cases that may fail through the proxy, each with the
// reason.
type Exceptions map[string]string

// Excepted reads exceptions.txt of a suite's directory, and exceptions.<engine>.txt with the cases that fail
// with one engine only. A line contains a case's name, a tab and the reason; empty lines and lines that begin
// with # are ignored. Without the files there are no exceptions.
func Excepted(t testing.TB, dir string, engine servers.Engine) Exceptions {
	t.Helper()
	x := Exceptions{}
	for _, name := range []string{"exceptions.txt", fmt.Sprintf("exceptions.%s.txt", engine)} {
		path := filepath.Join(dir, name)
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
