package histories

import (
	"testing"
	"time"

	"locus/migrate/cutover"
	harness "locus/test/cluster"
)

func TestMain(m *testing.M) {
	harness.Main(m, map[string]harness.Change{swappedWiring: swap})
}

// swappedWiring is the wiring of a process whose steps read the position before they hold anything.
const swappedWiring = "swapped"

// patient is the time limit of a step whose order is swapped.
const patient = 6 * time.Second

func swap(w *harness.Wiring) {
	w.Proxy.Fence.Hold = 2 * patient
	w.Mover.Times.Within = patient // so that the step is not undone before the planted bug loses something
	w.Mover.Arrange = func(e *cutover.Effects) { e.Fence, e.Position = e.Position, e.Fence }
}
