package job

import (
	"fmt"
	"time"

	"locus/migrate/phase"
)

// Order is an operator's request to a job, from a command, SQL or HTTP.
type Order struct {
	Name string
	// Event computes the event from the record at the time of the write; nil if the job's state does not
	// change.
	Event func(*Job) phase.Event
	// Change makes additional changes to the record; may be nil.
	Change func(*Job)
	// Refuse returns the reason why the request is not possible for a job; nil if it always is.
	Refuse func(*Job) error
}

// Told returns the record that results from a request. Its journal names the author of the request.
func (j *Job) Told(o Order, by string, now time.Time) (*Job, error) {
	if o.Refuse != nil {
		if err := o.Refuse(j); err != nil {
			return nil, err
		}
	}
	next := j.Noted(by, o.Name, now)
	if o.Event != nil {
		var err error
		if next, err = j.eventOf(o, by, now); err != nil {
			return nil, err
		}
	}
	if o.Change != nil {
		o.Change(next)
	}
	return next, next.Check()
}

func (j *Job) eventOf(o Order, by string, now time.Time) (*Job, error) {
	e := o.Event(j)
	what := o.Name
	if e.Kind == phase.CutTo || e.Kind == phase.RollBack {
		what += fmt.Sprintf(" to %s, by %d", j.Reached(e.Genes), e.Step)
	}
	return j.On(e, by, what, now)
}

// Just returns a request that consists only of an event.
func Just(name string, k phase.Kind) Order {
	return Order{Name: name, Event: func(*Job) phase.Event { return phase.Event{Kind: k} }}
}

// CutOver returns the request to hand genes over up to a percentage, in steps of step percent. Every is the
// time between two steps.
func CutOver(to, step float64, every time.Duration, b Breach) Order {
	return Order{
		Name: "cutover",
		Event: func(j *Job) phase.Event {
			return phase.Event{Kind: phase.CutTo, Genes: j.State.Genes(to), Step: max(1, j.State.Genes(step))}
		},
		Change: func(j *Job) { j.Every, j.OnBreach = every, b },
		Refuse: func(j *Job) error { return j.divides(to) },
	}
}

// NextStep returns the request to hand over another by percent at once, and to stop there.
func NextStep(by float64) Order {
	return Order{Name: "next step", Event: func(j *Job) phase.Event {
		wanted := min(j.State.Total, j.State.Cut+max(1, j.State.Genes(by)))
		return phase.Event{Kind: phase.CutTo, Genes: wanted, Step: j.State.Total}
	}, Refuse: func(j *Job) error { return j.divides(by) }}
}

// Back returns the request to hand genes back until a percentage is left at the target.
func Back(to, step float64) Order {
	return Order{Name: "rollback", Event: func(j *Job) phase.Event {
		return phase.Event{Kind: phase.RollBack, Genes: j.State.Genes(to), Step: max(1, j.State.Genes(step))}
	}, Refuse: func(j *Job) error { return j.divides(to) }}
}

// MostRest is the greatest share of the time that a job may sleep, in percent.
const MostRest = 95

// Throttle returns the request that copying, comparing and deleting sleep for a share of the time, in percent
// up to MostRest.
func Throttle(rest int) Order {
	return Order{Name: fmt.Sprintf("throttle: pauses %d %% of the time", rest), Change: func(j *Job) { j.Throttle = rest }}
}
