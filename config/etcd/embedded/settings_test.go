package embedded

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"
)

// Settings that the package guarantees, whose effects would take too long to test.
func TestSettings(t *testing.T) {
	e := settings(Config{Dir: "/d", Port: 0}, nil)
	if e.AutoCompactionMode != embed.CompactorModeRevision || e.AutoCompactionRetention != "10000" {
		t.Errorf("history: %s %s", e.AutoCompactionMode, e.AutoCompactionRetention)
	}
	if len(e.ListenPeerUrls) != 0 {
		t.Errorf("it listens for peers on %v", e.ListenPeerUrls)
	}
	for _, u := range e.ListenClientUrls {
		if !strings.HasPrefix(u.Host, "127.0.0.1:") {
			t.Errorf("it listens on %v", u)
		}
	}
}
