package kept

import (
	"locus/proxy/backend"
	"locus/router/stmt"
)

// Reading is how a text was parsed when it was prepared. As on the servers, a SET between PREPARE and EXECUTE doesn't change the meaning of the
// statement.
type Reading struct {
	Settings *backend.Settings
	Mode     stmt.Mode
	Foreign  bool
	// under is present combined with Settings. Both are cached for the next execution, which usually has the same present settings.
	present, under *backend.Settings
}

// lightReading is the largest size in bytes of settings that are cached for the next execution. The limit is needed because each of thousands of
// statements may have been executed under different settings.
const lightReading = 1 << 10

// On returns the settings that a connection must have to prepare the statement in a session with the settings present. It returns nil if present
// is nil.
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
