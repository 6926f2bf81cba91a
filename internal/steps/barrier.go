package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Missing is a process that does not satisfy the condition of a [Barrier] yet, and why.
type Missing struct {
	Process string `json:"process"`
	Why     string `json:"why"`
}

func (m Missing) String() string { return m.Process + ": " + m.Why }

// Barrier waits until every live process satisfies a condition. A process counts as live while its card is in etcd, which is up to 10 s
// after it was killed.
type Barrier struct {
	// Condition completes the sentence "not every process …", as in "obeys map version 7".
	Condition string
	// Read returns the live processes that are missing. An error ends the wait.
	Read func(context.Context) ([]Missing, error)
	// Every is the interval between two reads. Changed ends it early; nil: nothing does.
	Every   time.Duration
	Changed <-chan struct{}
	// Waiting is called after each read that finds missing processes; nil: it is not called.
	Waiting func([]Missing)
}

// Wait waits until no process is missing, or ctx ends. Then the error is a *[MissingError] with the processes of the last read, also if
// ctx ends during a read.
func (b Barrier) Wait(ctx context.Context) error {
	tick := time.NewTicker(b.Every)
	defer tick.Stop()
	var last []Missing
	for {
		missing, err := b.Read(ctx)
		switch {
		case err != nil && ctx.Err() != nil && len(last) > 0:
			return &MissingError{b.Condition, last, context.Cause(ctx)}
		case err != nil:
			return err
		case len(missing) == 0:
			return nil
		}
		if last = missing; b.Waiting != nil {
			b.Waiting(missing)
		}
		select {
		case <-ctx.Done():
			return &MissingError{b.Condition, last, context.Cause(ctx)}
		case <-b.Changed:
		case <-tick.C:
		}
	}
}

// MissingError reports that a wait for all processes has ended without some of them.
type MissingError struct {
	Condition string // of the barrier
	Missing   []Missing
	Cause     error // why the wait has ended; nil: its time is over
}

func (e *MissingError) Error() string {
	names := make([]string, len(e.Missing))
	for i, m := range e.Missing {
		names[i] = m.String()
	}
	text := "not every process " + e.Condition + ": " + strings.Join(names, "; ")
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *MissingError) Unwrap() error { return e.Cause }

// Names returns the IDs of the missing processes.
func Names(list []Missing) []string {
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Process
	}
	return names
}

// Behind returns the processes that obey an earlier version of a document than the given one, sorted by their IDs. The document is named
// as in "map version".
func Behind(obeyed map[string]int64, version int64, document string) (list []Missing) {
	for id, has := range obeyed {
		switch {
		case has >= version:
		case has == 0:
			list = append(list, Missing{id, "it has not reported a " + document + " yet"})
		default:
			list = append(list, Missing{id, fmt.Sprintf("it obeys %s %d, because a transaction or a statement that began before is still open there, or it does not respond", document, has)})
		}
	}
	slices.SortFunc(list, func(a, b Missing) int { return strings.Compare(a.Process, b.Process) })
	return list
}
