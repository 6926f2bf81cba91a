//go:build !long

package trust

// clientRounds are the sessions that each client has one after the other, and
// clientsFor how long they go on at least.
const (
	clientRounds = 3
	clientsFor   = 0
)
