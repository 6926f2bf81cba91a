package job

import (
	"fmt"
	"time"

	"locus/migrate/phase"
)

// Order is what an operator wants of a job, by whatever way it comes.
type Order struct {
	Name string
	// Event is computed from the record as it is when the order is written; nil: the
	// job stays where it is.
	Event func(*Job) phase.Event
	// Change is made besides; nil: nothing.
	Change func(*Job)
	// Refuse says why a job can't be told so, whatever it does; nil: any can.
	Refuse func(*Job) error
}

// Told is the record after an order, with who gave it in its journal.
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

// Just is an order that is an event and no more.
func Just(name string, k phase.Kind) Order {
	return Order{Name: name, Event: func(*Job) phase.Event { return phase.Event{Kind: k} }}
}

// CutOver hands genes over up to a percentage, by steps of step percent; every is
// the time between two of them.
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

// NextStep hands over by percent more than are at the target, at once, and stays
// there.
func NextStep(by float64) Order {
	return Order{Name: "next step", Event: func(j *Job) phase.Event {
		wanted := min(j.State.Total, j.State.Cut+max(1, j.State.Genes(by)))
		return phase.Event{Kind: phase.CutTo, Genes: wanted, Step: j.State.Total}
	}, Refuse: func(j *Job) error { return j.divides(by) }}
}

// Back hands genes back until a percentage is left at the target.
func Back(to, step float64) Order {
	return Order{Name: "rollback", Event: func(j *Job) phase.Event {
		return phase.Event{Kind: phase.RollBack, Genes: j.State.Genes(to), Step: max(1, j.State.Genes(step))}
	}, Refuse: func(j *Job) error { return j.divides(to) }}
}

// MostRest is how much of the time a job may rest, in percent.
const MostRest = 95

// Throttle has a job's copying, comparing and deleting rest for a part of the time, in
// percent up to MostRest.
func Throttle(rest int) Order {
	return Order{Name: fmt.Sprintf("throttle: rests %d %% of the time", rest), Change: func(j *Job) { j.Throttle = rest }}
}
