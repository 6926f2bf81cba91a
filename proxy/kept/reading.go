package kept

import (
	"locus/proxy/backend"
	"locus/router/stmt"
)

// Reading is how a text was interpreted when it was prepared. As on the servers, it doesn't change: a SET between
// PREPARE and EXECUTE doesn't change the statement's meaning.
type Reading struct {
	Settings *backend.Settings
	Mode     stmt.Mode
	Foreign  bool
	// under is present combined with Settings. Both are cached for the next execution, which usually has the same
	// present settings.
	present, under *backend.Settings
}

// lightReading is the largest size in bytes of settings that are cached for the next execution. Each of thousands of
// statements may have been executed under different ones.
const lightReading = 1 << 10

// On returns the settings under which a connection that carries present must prepare the statement.
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
