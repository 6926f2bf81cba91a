package switchover

import (
	"strings"
	"testing"
)

// locus runs a command of the binary against the cluster, and returns its output.
func (s *stand) locus(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := s.Locus(args...)
	t.Logf("locus %s: %v\n%s", strings.Join(args, " "), err, out)
	return out, err
}

// says runs a command that must succeed and print a text.
func (s *stand) says(t *testing.T, what string, args ...string) string {
	t.Helper()
	out, err := s.locus(t, args...)
	if err != nil || !strings.Contains(out, what) {
		t.Fatalf("locus %s: %v\n%s\nit lacks %q", strings.Join(args, " "), err, out, what)
	}
	return out
}

// refuses checks that a command ends with an error that contains the given texts.
func (s *stand) refuses(t *testing.T, what string, args ...string) {
	t.Helper()
	out, err := s.locus(t, args...)
	if err == nil || !strings.Contains(out, what) {
		t.Fatalf("locus %s: %v\n%s\nit lacks %q", strings.Join(args, " "), err, out, what)
	}
}
