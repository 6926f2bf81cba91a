package live

import (
	"fmt"
	"log/slog"
	"time"
)

// Status describes how current the state in force is, for health checks, metrics and display.
type Status struct {
	Revision     int64     // revision of the state in force; 0 for none
	Published    time.Time // when it came into force
	Acknowledged int64     // the last revision acknowledged
	Confirmed    time.Time // when the source was last read; zero for never
	Away         error     // why the source can't be read now, or nil
	// Refused is why the source's current values are not in force, or nil.
	Refused         error
	RefusedRevision int64
}

// String returns one line, such as "revision 12, read 3s ago".
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
		text += ", etcd unreachable: " + s.Away.Error()
	}
	if s.Refused != nil {
		text += fmt.Sprintf(", revision %d refused: %v", s.RefusedRevision, s.Refused)
	}
	return text
}

// Status returns the current status.
func (l *Live[S]) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

func (l *Live[S]) noteAway(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status.Away == nil { // once per outage
		l.config.Log.Warn("etcd unreachable, the current state stays in use",
			slog.Int64("revision", l.status.Revision), slog.Any("error", err))
	}
	l.status.Away = err
}

func (l *Live[S]) noteRead() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status.Away != nil {
		l.config.Log.Info("etcd is reachable again", slog.Duration("after", time.Since(l.status.Confirmed)))
	}
	l.status.Away, l.status.Confirmed = nil, time.Now()
}

func (l *Live[S]) noteRefused(err error, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.status.Refused; old == nil || old.Error() != err.Error() { // once per reason
		l.config.Log.Error("state refused, the current one stays in use", slog.Int64("refused", revision),
			slog.Int64("revision", l.status.Revision), slog.Any("error", err))
	}
	l.status.Refused, l.status.RefusedRevision = err, revision
}

func (l *Live[S]) notePublished(revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.config.Log.Info("state in use", slog.Int64("revision", revision), slog.Int64("before", l.status.Revision))
	l.status.Revision, l.status.Published = revision, time.Now()
	l.status.Refused, l.status.RefusedRevision = nil, 0
}

// noteUnchanged records that the source still holds the state in force.
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
