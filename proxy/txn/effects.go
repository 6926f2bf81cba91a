package txn

import (
	"locus/proxy/backend"
	"locus/router/plan"
)

// Effects returns the session state that a statement leaves on its connection.
func Effects(f *plan.Facts) backend.Leaves { return effects[f.Leaves] }

var effects = [...]backend.Leaves{
	plan.LeavesState: backend.State, plan.LeavesNothing: backend.Nothing, plan.LeavesVariables: backend.Variables,
	plan.LeavesRoutine: backend.State, plan.LeavesUnknown: backend.Unknown,
}
