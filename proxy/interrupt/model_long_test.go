//go:build long

package interrupt

import (
	"testing"
	"testing/synctest"
)

// TestEveryOrderWithTwoAtLength runs any two actors that end a session's work. Statements may also be answered.
func TestEveryOrderWithTwoAtLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pairs(t, scenario{}, func(string) bool { return true })
		pairs(t, scenario{endless: true}, func(string) bool { return true })
	})
}
