//go:build long

package twophase

import "testing"

// TestEveryOrderOfTwo has two processes clean up as well, which takes minutes.
func TestEveryOrderOfTwo(t *testing.T) { everyOrder(t, (*Coordinator).look, (*Coordinator).look) }
