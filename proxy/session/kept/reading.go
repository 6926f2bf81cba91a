package kept

import (
	"locus/proxy/backend"
	"locus/router/stmt"
)

// Reading is how a text was read when it was prepared. As on the servers it stays
// so: whatever the client sets between PREPARE and EXECUTE, the statement means
// what it meant.
type Reading struct {
	Settings *backend.Settings
	Mode     stmt.Mode
	Foreign  bool
	// under is present with what decides the reading as it was. They are kept for
	// the next execution, which mostly finds them as they are.
	present, under *backend.Settings
}

// lightReading is how much the settings may hold that are kept for the next execution, in
// bytes: each of thousands of statements may have been executed under others.
const lightReading = 1 << 10

// On gives the settings under which a connection that carries others is to have
// the statement prepared.
func (r *Reading) On(present *backend.Settings) *backend.Settings {
	if r.present != present && present != nil {
		under := present.ReadAs(r.Settings)
		if present.Size() > lightReading {
			return under
		}
		r.present, r.under = present, under
	}
	if present == nil {
		return nil
	}
	return r.under
}
