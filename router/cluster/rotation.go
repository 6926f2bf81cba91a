package cluster

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// mostDays limits RotateKeysEvery.
const mostDays = 3650

// KeyRotation returns for how long a key should hide new IDs, or 0 if there is no schedule.
func (s Settings) KeyRotation() time.Duration {
	d, _ := days(s.RotateKeysEvery) // Validate has checked it
	return d
}

func days(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	number, found := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n < 1 || n > mostDays {
		return 0, errors.New("write a number of days from 1d to " + strconv.Itoa(mostDays) + "d, such as 90d")
	}
	return time.Duration(n) * 24 * time.Hour, nil
}
