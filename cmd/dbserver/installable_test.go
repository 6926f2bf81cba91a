package dbserver

import (
	"strings"
	"testing"
)

func TestPathsWithBlanksAreRefused(t *testing.T) {
	for dir, usable := range map[string]bool{"/tmp/a": true, "/tmp/bésuch-1": true, "/tmp/my shop": false, "/tmp/a\tb": false, "/tmp/a\n": false} {
		err := installable(dir)
		if (err == nil) != usable || err != nil && !strings.Contains(err.Error(), "--data") {
			t.Errorf("%q: %v", dir, err)
		}
	}
}
