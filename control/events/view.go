package events

import "time"

// View is an event as programs read it, in JSON.
type View struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Kind    Kind      `json:"kind"`
	Subject string    `json:"subject"`
	What    string    `json:"what"`
	By      string    `json:"by,omitempty"`
	TookMs  float64   `json:"took_ms,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
	Command string    `json:"command,omitempty"` // shows more about the subject
}

// View returns the view of an event.
func (e Event) View() View {
	return View{e.ID, e.At, e.Kind, e.Subject, e.What, e.By, e.tookMs(), e.Failed, e.Command()}
}

// Views returns the views of events.
func Views(list []Event) []View {
	views := make([]View, len(list))
	for i, e := range list {
		views[i] = e.View()
	}
	return views
}

func (e Event) tookMs() float64 {
	return float64(e.Took.Round(100*time.Microsecond).Microseconds()) / 1000
}
