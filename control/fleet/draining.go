package fleet

import (
	"fmt"
	"time"
)

// Drained describes how far a process has drained: since when it is not ready, when its port closes, and how many sessions are left.
func Drained(since, portCloses, now time.Time, sessions int) string {
	port := "port closed"
	if left := portCloses.Sub(now); left > 0 {
		port = fmt.Sprintf("port closes in %v", max(left.Round(time.Second), time.Second))
	}
	return fmt.Sprintf("not ready since %s, %s, %d sessions left", since.Local().Format(time.TimeOnly), port, sessions)
}
