//go:build long

package histories

import (
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
	"locus/migrate/phase"
)

// TestImportUnderFaults lets every fault happen at every stop point of the switch, forward or back, and after
// it.
func TestImportUnderFaults(t *testing.T) {
	killShard := fault{"kill a shard that rows go to", func(w *world, t *testing.T, _ int) func() { return w.killServer(t, 1) }}
	stopShard := fault{"stop a shard that rows go to", func(w *world, t *testing.T, _ int) func() { return w.stopServer(t, 1) }}
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		w.stride = 100
		w.startProxies(t)
		w.makeLedger(t)
		k := w.keepers(t)
		w.planImport(t, splitting)
		w.phase(t, splitting, phase.Ready)
		for _, f := range []fault{
			killMover, stopMover, killProxy, stopProxy, loseProxy, killEtcd, stopEtcd, killSource, stopSource, killShard, stopShard,
		} {
			for _, point := range cutover.Points {
				for _, when := range []moment{at, after} {
					w.strike(t, when, point, f)
				}
			}
		}
		w.cutWhole(t, 100)
		w.finish(t, splitting)
		w.phase(t, splitting, phase.Done)
		k.stop(t)
		k.compare(t)
	})
}
