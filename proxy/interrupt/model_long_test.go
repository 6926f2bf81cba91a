//go:build long

package interrupt

import (
	"testing"
	"testing/synctest"
)

// Any two that end what a session does, by statements that are answered too.
func TestEveryOrderWithTwoAtLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs(t, scenario{}, func(string) bool { return true })
		pairs(t, scenario{endless: true}, func(string) bool { return true })
	})
}
