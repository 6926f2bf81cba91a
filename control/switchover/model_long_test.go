//go:build long

package switchover

import "testing"

// Two proxies, both of which are cut off, or one of them twice.
func TestNeverTwoPrimariesWithTwoProxies(t *testing.T) { explore(t, 2, 2) }
