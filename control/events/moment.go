package events

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// layouts are the ways to write a point in time. Without a zone it is in UTC.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// Moment reads a point in time: a time such as 2026-03-01 22:00, a time of the last 24 hours such as 22:00, or an age such as 12h or 7d.
func Moment(text string, now time.Time) (time.Time, error) {
	text, now = strings.TrimSpace(text), now.UTC()
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t = time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
		if t.After(now) {
			t = t.AddDate(0, 0, -1)
		}
		return t, nil
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.AddDate(0, 0, -int(n)), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time: write an age such as 12h or 7d, or a time in UTC such as 22:00 or 2026-03-01 22:00", text)
}
