//go:build long

package histories

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/migrate/phase"
	harness "locus/test/cluster"
)

// TestAServerOutsideThatIsNotFollowed: while the server outside is followed, it loses its log, logs too little,
// or alters the table. The import fails with the reason and the remedy. When it is aborted and begun again it
// brings all rows.
func TestAServerOutsideThatIsNotFollowed(t *testing.T) {
	for _, c := range []struct {
		name, why, remedy string
		spoil             func(t *testing.T, w *world, outside *servers.Server)
	}{
		{"its log is purged", "no longer contains that position", "raise the servers' binlog retention, abort the job with locus abort", func(t *testing.T, w *world, outside *servers.Server) {
			mend := w.killServer(t, 1)
			outside.Exec(t, "UPDATE shop.person SET value = 2 WHERE id <= 100")
			harness.Until(t, "a stream has stopped", func() (bool, error) { return w.report(t, splitting).Trouble != "", nil })
			purge(t, outside)
			mend()
		}},
		{"it logs a part of the columns", "binlog_row_image", "binlog_row_image = FULL", func(t *testing.T, _ *world, outside *servers.Server) {
			outside.Exec(t, "SET SESSION binlog_row_image = MINIMAL", "UPDATE shop.person SET value = 2 WHERE id <= 100")
		}},
		{"its table is altered", "was changed while its rows are moved", "locus abort", func(t *testing.T, _ *world, outside *servers.Server) {
			outside.Exec(t, "ALTER TABLE shop.person ADD COLUMN more INT", "UPDATE shop.person SET value = 2 WHERE id <= 100")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			servers.Engines(t, func(t *testing.T, engine servers.Engine) {
				const again, people = "import-2", 500
				w := open(t, engine)
				w.startProxies(t)
				outside := servers.Start(t, engine, 1)[0]
				outside.Exec(t, "CREATE DATABASE "+schema, "CREATE TABLE shop.person (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, uid BIGINT NOT NULL, value BIGINT NOT NULL)")
				rows := make([]string, people)
				for uid := range rows {
					rows[uid] = fmt.Sprintf("(%d, 1)", uid)
				}
				outside.Exec(t, "INSERT INTO shop.person (uid, value) VALUES "+strings.Join(rows, ", "))
				w.planOutside(t, splitting, outside, "shop.person owner=uid")
				w.phase(t, splitting, phase.Ready)
				c.spoil(t, w, outside)
				at := w.failedWith(t, splitting, c.why, c.remedy)
				t.Logf("%s: %s", at.Why, at.Remedy)
				w.order(t, splitting, func(phase.State) phase.Event { return phase.Event{Kind: phase.Abort} })
				w.phase(t, splitting, phase.Aborted)

				w.planOutside(t, again, outside, "shop.person owner=uid")
				w.phase(t, again, phase.Ready)
				w.order(t, again, func(p phase.State) phase.Event {
					return phase.Event{Kind: phase.CutTo, Genes: p.Total, Step: p.Total}
				})
				w.phase(t, again, phase.Cut)
				w.finish(t, again)
				w.phase(t, again, phase.Done)
				db := client(w.Proxies[0].Addr(), false)
				defer db.Close()
				harness.Until(t, "all rows are there, as they were written last", func() (bool, error) {
					var rows, sum int
					err := db.QueryRow("SELECT COUNT(*), SUM(value) FROM person").Scan(&rows, &sum)
					return rows == people && sum == people+100, fmt.Errorf("%d rows, %d in sum, %w", rows, sum, err)
				})
			})
		})
	}
}
