package live

import (
	"fmt"
	"log/slog"
	"time"
)

// Status says how fresh the state in force is, for health, metrics and people.
type Status struct {
	Revision     int64     // of the state in force; 0: none yet
	Published    time.Time // when it came into force
	Acknowledged int64     // the last revision that others were told of
	Confirmed    time.Time // when the source was last read; zero: never
	Away         error     // why it can't be read now; nil: it can
	// Why the state that the source holds is not in force; nil: it is.
	Refused         error
	RefusedRevision int64
}

// String is one line, such as "revision 12, read 3s ago".
func (s Status) String() string {
	text := fmt.Sprintf("revision %d", s.Revision)
	if s.Revision == 0 {
		text = "no state"
	}
	if s.Confirmed.IsZero() {
		text += ", never read"
	} else {
		text += fmt.Sprintf(", read %s ago", time.Since(s.Confirmed).Round(time.Second))
	}
	if s.Away != nil {
		text += ", source away: " + s.Away.Error()
	}
	if s.Refused != nil {
		text += fmt.Sprintf(", revision %d refused: %v", s.RefusedRevision, s.Refused)
	}
	return text
}

// Status is how things stand.
func (l *Live[S]) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

func (l *Live[S]) noteAway(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status.Away == nil { // once an outage
		l.config.Log.Warn("source away, the state in force stays",
			slog.Int64("revision", l.status.Revision), slog.Any("error", err))
	}
	l.status.Away = err
}

func (l *Live[S]) noteRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status.Away != nil {
		l.config.Log.Info("source is back", slog.Duration("after", time.Since(l.status.Confirmed)))
	}
	l.status.Away, l.status.Confirmed = nil, time.Now()
}

func (l *Live[S]) noteRefused(err error, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.status.Refused; old == nil || old.Error() != err.Error() { // once a reason
		l.config.Log.Error("state refused, the one in force stays", slog.Int64("refused", revision),
			slog.Int64("revision", l.status.Revision), slog.Any("error", err))
	}
	l.status.Refused, l.status.RefusedRevision = err, revision
}

func (l *Live[S]) notePublished(revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.Log.Info("state in force", slog.Int64("revision", revision), slog.Int64("before", l.status.Revision))
	l.status.Revision, l.status.Published = revision, time.Now()
	l.status.Refused, l.status.RefusedRevision = nil, 0
}

// noteUnchanged is that the source holds the state in force, after all.
func (l *Live[S]) noteUnchanged() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Refused, l.status.RefusedRevision = nil, 0
}

func (l *Live[S]) noteAcknowledged(revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Acknowledged = revision
}
