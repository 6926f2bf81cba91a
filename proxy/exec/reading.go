package exec

import (
	"locus/proxy/kept"
	"locus/router/plan"
)

// ReadsDifferently reports whether the session would read the text differently now.
func (e *Engine) ReadsDifferently(r *kept.Reading) bool {
	return r.On(e.Vars.Settings) != e.Vars.Settings
}

// StaleReading returns the refusal of a prepared statement that the session would have to read again.
func StaleReading() error {
	return &plan.Refusal{Code: plan.Unsupported, Message: "it was prepared under another sql_mode, default database or character set, and would have another meaning now: prepare it again, or restore these settings"}
}
