package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locus/control/watch"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// orderAnswer is an order that a move accepts in its current state: a procedure of the schema locus, the question
// before it, and the arguments after the first, which is the move.
type orderAnswer struct {
	Procedure string `json:"procedure"`
	Word      string `json:"word"`
	Ask       string `json:"ask"` // its consequences
	Grave     bool   `json:"grave,omitempty"`
	// Next reports that this is the next sensible request, as locus watch prints it.
	Next      bool       `json:"next,omitempty"`
	Arguments []argument `json:"arguments,omitempty"`
}

// argument is a number within bounds, or one of a few words.
type argument struct {
	Name    string   `json:"name"`
	Label   string   `json:"label"`
	Unit    string   `json:"unit,omitempty"`
	Value   string   `json:"value"`
	Least   float64  `json:"least"`
	Most    float64  `json:"most"`
	Choices []string `json:"choices,omitempty"`
}

func percentage(name, label, unit string, value float64) argument {
	return argument{Name: name, Label: label, Unit: unit, Value: strconv.FormatFloat(value, 'f', -1, 64), Most: 100}
}

// ordersFor returns the orders that a move's state accepts, by its own rules.
func ordersFor(j *job.Job) []orderAnswer {
	s := j.State
	list := []orderAnswer{}
	next := nextOf(j)
	offer := func(o orderAnswer, order job.Order) {
		o.Next = o.Procedure == next
		if _, err := j.Told(order, "", j.Created); err == nil {
			list = append(list, o)
		}
	}
	offer(orderAnswer{
		Procedure: "cutover", Word: "Cut over …", Ask: fmt.Sprintf("Hand genes of %s over from %s to %s, step by step. Statements on the genes of a step are paused for a moment. Every step can be rolled back until the move is finished.", j.ID, j.Source(), j.Target()),
		Arguments: []argument{
			percentage("percent", "Up to", "% of its genes", 100), percentage("step_percent", "By", "% a step", 5),
			{Name: "every_seconds", Label: "A step every", Unit: "s; 0: one right after another", Value: "60", Most: 7 * 24 * 3600},
			{Name: "on_breach", Label: "If errors or latency rise", Value: string(job.PauseThen), Choices: []string{string(job.PauseThen), string(job.StepBack), string(job.BackToNil)}},
		},
	}, job.CutOver(100, 5, time.Minute, job.PauseThen))
	offer(orderAnswer{
		Procedure: "next_step", Word: "Next step …", Ask: fmt.Sprintf("Hand genes of %s over from %s to %s at once, and stay there. Statements on them are paused for a moment.", j.ID, j.Source(), j.Target()),
		Arguments: []argument{percentage("percent", "Hand over", "% more of its genes", 5)},
	}, job.NextStep(5))
	if s.Shown() != phase.Failed {
		offer(orderAnswer{Procedure: "pause", Word: "Pause", Ask: fmt.Sprintf("Pause %s: it only keeps both shards equal until it is resumed.", j.ID)}, job.Just("pause", phase.Pause))
	}
	offer(orderAnswer{Procedure: "resume", Word: "Resume", Ask: fmt.Sprintf("Resume %s where it stopped.", j.ID)}, job.Just("resume", phase.Resume))
	offer(orderAnswer{
		Procedure: "repair", Word: "Repair …", Grave: true, Ask: fmt.Sprintf("Make the rows equal in which %s and %s differ, as locus repair %s lists them. The overwritten rows are kept only in locus.move_repair.", j.Source(), j.Target(), j.ID),
		Arguments: []argument{{Name: "take", Label: "Take the row of the", Value: string(job.TakeNewer), Choices: []string{string(job.TakeNewer), string(job.TakeSource), string(job.TakeTarget)}}},
	}, job.Order{Name: "repair", Event: func(*job.Job) phase.Event { return phase.Event{Kind: phase.ToRepair} }, Change: func(j *job.Job) { j.Repair = new(job.Repair) }})
	offer(orderAnswer{
		Procedure: "rollback", Word: "Roll back …", Grave: true, Ask: fmt.Sprintf("Hand genes of %s back from %s to %s. Statements on them are paused for a moment; rows written at %s are kept.", j.ID, j.Target(), j.Source(), j.Target()),
		Arguments: []argument{percentage("percent", "Leave", "% of its genes at "+j.Target(), 0), percentage("step_percent", "By", "% a step", 100)},
	}, job.Back(0, 100))
	if !s.Over() {
		offer(throttling(j), job.Throttle(j.Throttle))
	}
	offer(orderAnswer{
		Procedure: "finish", Word: "Finish", Grave: true, Ask: fmt.Sprintf("Finish %s: %s. Afterwards only another job can move the genes back.", j.ID, j.Ending()),
	}, job.Just("finish", phase.Finish))
	offer(orderAnswer{Procedure: "abort", Word: "Abort", Grave: true, Ask: abortion(j)}, job.Just("abort", phase.Abort))
	return list
}

// nextOf returns the procedure of the next sensible request: the one of the command that locus watch prints, or that the remedy names first.
func nextOf(j *job.Job) string {
	commands := j.State.Remedy
	if next := j.Next(); len(next) > 0 {
		commands = next[0].Command
	}
	_, command, _ := strings.Cut(commands, "locus ")
	name, _, _ := strings.Cut(command, " ")
	return name
}

func throttling(j *job.Job) orderAnswer {
	rest := percentage("percent", "Rest for", "% of the time", float64(j.Throttle))
	rest.Most = job.MostRest
	return orderAnswer{
		Procedure: "throttle", Word: "Throttle …", Arguments: []argument{rest},
		Ask: fmt.Sprintf("Let copying, comparing and deleting of %s pause for a part of the time, so that clients get more of the shards.", j.ID),
	}
}

func abortion(j *job.Job) string {
	if s := j.State; s.Cut > 0 {
		what := watch.Count(int64(s.Cut)) + " genes"
		if j.BySequence {
			what = fmt.Sprintf("%d %% of the rows", s.Cut)
		}
		return fmt.Sprintf("Abort %s: its %s at %s return to %s first, and the copy at %s is deleted.", j.ID, what, j.Target(), j.Source(), j.Target())
	}
	return fmt.Sprintf("Abort %s: its copy at %s is deleted, and %s serves all rows as before.", j.ID, j.Target(), j.Source())
}
