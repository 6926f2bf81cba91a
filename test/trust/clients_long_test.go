//go:build long

package trust

import "time"

const (
	clientRounds = 4
	clientsFor   = 10 * time.Minute
)
