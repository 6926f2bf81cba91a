//go:build long

package twophase

import (
	"testing"

	"locus/router"
)

// TestEveryOrderOfTwo has two processes that recover more branches, and also clean up. It takes minutes.
func TestEveryOrderOfTwo(t *testing.T) {
	two := []router.ShardName{"a", "b"}
	t.Run("two recover", func(t *testing.T) { everyOrder(t, two, lookOnly, lookOnly) })
	t.Run("two clean up", func(t *testing.T) { everyOrder(t, two, (*Coordinator).look, (*Coordinator).look) })
}
