package backend

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorsOfAServerThatIsNoShard(t *testing.T) {
	for _, err := range []error{&LoginError{Addr: "db:3306", Err: errors.New("refused")}, &LostError{Addr: "db:3306", Err: errors.New("reset")},
		&UnavailableError{Addr: "db:3306", Reason: errors.New("refused")}, &ExhaustedError{}} {
		if text := err.Error(); !strings.HasPrefix(text, "server") || strings.Contains(text, "shard :") {
			t.Errorf("%T: %s", err, text)
		}
	}
}
