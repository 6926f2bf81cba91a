//go:build long

package switchover

import "testing"

// Two proxies, both of which are cut off from etcd, or one of them twice.
func TestNeverTwoPrimariesWithTwoProxies(t *testing.T) { explore(t, 2, 2) }
