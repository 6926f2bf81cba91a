//go:build long

package histories

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/router/cluster"
	harness "locus/test/cluster"
)

// ballast is the number of moved rows in addition to those of the clients.
const ballast = 30_000

// TestOutages kills the mover and each server while rows are copied, and again while the stream keeps them
// equal. The job continues where it was.
func TestOutages(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, f := range []fault{killMover, killSource, killTarget} {
			t.Run(f.name, func(t *testing.T) {
				w := open(t, engine)
				c := w.inService(t)
				w.load(t)
				w.planSlowly(t, splitting)
				w.copied(t, ballast/10)
				before := w.report(t, splitting)
				f.strike(w, t, w.mover(t))()
				if f.name == killMover.name {
					w.resumed(t, before)
				}
				w.hurry(t, splitting)
				w.phase(t, splitting, phase.Ready)
				f.strike(w, t, w.mover(t))()
				w.toTheEnd(t, splitting)
				w.serviceEnds(t, c)
			})
		}
	})
}

// TestTheLogIsPurged removes the log while the stream can't read it. The job fails, the source stays in
// service, and the remedy that the job names works.
func TestTheLogIsPurged(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		c := w.inService(t)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		mend := w.killServer(t, 2)
		harness.Until(t, "the stream has stopped", func() (bool, error) { return w.report(t, splitting).Trouble != "", nil })
		c.goOn(t, some)
		purge(t, w.Shards[0].Server)
		mend()
		w.failedWith(t, splitting, "no longer contains that position", "locus abort")
		c.goOn(t, some)
		w.runAgain(t)
		w.serviceEnds(t, c)
	})
}

// TestTheSourceIsAltered: the stream stops before it.
func TestTheSourceIsAltered(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		c := w.inService(t)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		const alter = "ALTER TABLE shop.item ADD COLUMN more INT"
		w.Shards[0].Exec(t, alter)
		w.failedWith(t, splitting, "was changed while its rows are moved", "locus abort")
		c.goOn(t, some)
		w.Shards[1].Exec(t, alter)
		w.Shards[2].Exec(t, alter)
		w.runAgain(t)
		w.serviceEnds(t, c)
	})
}

// TestTheTargetIsAltered: no gene moves to a target from which rows could not be moved back.
func TestTheTargetIsAltered(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		c := w.inService(t)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		w.Shards[2].Exec(t, "ALTER TABLE shop.item ADD COLUMN more INT")
		w.cut(t, splitting, 100, 25)
		if at := w.failedWith(t, splitting, "the number of columns is 4 at the source and 5 at the target", "locus resume"); at.Cut > 0 {
			t.Errorf("%d genes are at the target", at.Cut)
		}
		c.goOn(t, some)
		w.Shards[2].Exec(t, "ALTER TABLE shop.item DROP COLUMN more")
		w.resume(t, splitting)
		w.toTheEnd(t, splitting)
		w.serviceEnds(t, c)
	})
}

// TestAProxyThatNeverAcknowledges keeps a job from its beginning, and from every
// step, and is named.
func TestAProxyThatNeverAcknowledges(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		w.patience = 3 * time.Second
		c := w.inService(t)
		const ghost = "ghost:3306"
		w.put(t, cluster.ProxyPrefix+ghost, (fleet.Card{ID: ghost, MapVersion: 1, Answers: true}).Text())
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.failedWith(t, splitting, ghost, "locus resume")
		w.put(t, cluster.ProxyPrefix+ghost, nil)
		w.resume(t, splitting)
		w.phase(t, splitting, phase.Ready)
		_, m := w.routes(t)
		w.put(t, cluster.ProxyPrefix+ghost, (fleet.Card{ID: ghost, MapVersion: m.Version(), Answers: true}).Text())
		w.cut(t, splitting, 100, 25)
		if at := w.failedWith(t, splitting, ghost, "locus resume"); at.Cut > 0 {
			t.Errorf("%d genes are at the target", at.Cut)
		}
		c.goOn(t, some)
		w.put(t, cluster.ProxyPrefix+ghost, nil)
		w.resume(t, splitting)
		w.toTheEnd(t, splitting)
		w.serviceEnds(t, c)
	})
}

// TestTheTargetIsFull: the job fails with the server's error, and continues when there is room. A trigger
// returns the error of a full disk, because MariaDB itself may crash on a real one.
func TestTheTargetIsFull(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		w.patience = 3 * time.Second
		c := w.inService(t)
		w.plan(t, splitting, job.Split, "s0", "s2")
		w.phase(t, splitting, phase.Ready)
		w.Shards[2].Exec(t, "CREATE TRIGGER shop.no_room BEFORE INSERT ON shop.journal FOR EACH ROW"+
			" SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table ''journal'' is full'")
		w.failedWith(t, splitting, "is full", "locus resume")
		c.goOn(t, some)
		w.Shards[2].Exec(t, "DROP TRIGGER shop.no_room")
		w.resume(t, splitting)
		w.toTheEnd(t, splitting)
		w.serviceEnds(t, c)
	})
}

// inService starts everything but a move.
func (w *world) inService(t *testing.T) *run {
	t.Helper()
	w.startProxies(t)
	w.fill(t)
	c := w.clients(t.Context())
	c.pace = 20 * time.Millisecond
	c.start(8)
	return c
}

func (w *world) serviceEnds(t *testing.T, c *run) {
	t.Helper()
	c.stop(t)
	w.checkErrors(t, c.record)
	c.verdict(t)
}

// load puts rows into the journal of the source, of genes that move.
func (w *world) load(t *testing.T) {
	t.Helper()
	db := w.Shards[0].DB(t, schema)
	defer db.Close()
	var rows []string
	for n, uid := 0, int64(1_000); n < ballast; uid++ {
		g := gene.OfInt(uid, gene.W16)
		if !moving.Contains(g) {
			continue
		}
		n++
		rows = append(rows, fmt.Sprintf("(%d, %d, %d, 0, %d)", 1<<40+n, uid, uid, g))
		if len(rows) == 1000 {
			if _, err := db.Exec("INSERT INTO journal (transfer, uid, peer, amount, gene) VALUES " + strings.Join(rows, ", ")); err != nil {
				t.Fatal(err)
			}
			rows = rows[:0]
		}
	}
}

// planSlowly begins a move that rests most of the time.
func (w *world) planSlowly(t *testing.T, id string) {
	t.Helper()
	j, err := job.New(id, job.Split, "s0", "s2", gene.W16, moving, "the test", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	j.Throttle = 90
	if err := w.Jobs.Create(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

// hurry removes the pauses of a job.
func (w *world) hurry(t *testing.T, id string) {
	t.Helper()
	harness.Until(t, "it is told to hurry", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), id)
		if err != nil {
			return false, err
		}
		j := *s.Job
		j.Throttle = 0
		_, err = w.Jobs.Write(t.Context(), s, &j, nil, "")
		return err == nil, err
	})
}

func (w *world) report(t *testing.T, id string) job.Report {
	t.Helper()
	reports, err := w.Jobs.Reports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return reports[id]
}

// copied waits until so many rows are copied, and not all.
func (w *world) copied(t *testing.T, rows int64) {
	t.Helper()
	harness.Until(t, "rows are copied", func() (bool, error) { return w.report(t, splitting).RowsCopied > rows, nil })
	s, err := w.Jobs.Read(t.Context(), splitting)
	if err != nil {
		t.Fatal(err)
	}
	if s.Job.State.Phase != phase.Copying {
		t.Fatalf("the job is %s: the copy was too quick for this test", s.Job.State.Phase)
	}
}

// resumed waits until another process copies, and checks where it began.
func (w *world) resumed(t *testing.T, before job.Report) {
	t.Helper()
	var now job.Report
	harness.Until(t, "another process copies", func() (bool, error) {
		now = w.report(t, splitting)
		return now.Runner != before.Runner && now.RowsCopied > 0, nil
	})
	if now.RowsCopied < before.RowsCopied/2 {
		t.Errorf("%d rows were copied, and then %d", before.RowsCopied, now.RowsCopied)
	}
}

// mover returns the process that runs the job.
func (w *world) mover(t *testing.T) (number int) {
	t.Helper()
	harness.Until(t, "somebody runs the job", func() (bool, error) {
		name, err := w.claimant(t)
		for i, p := range w.Proxies {
			if name != "" && p.Addr() == name {
				number = i
				return true, nil
			}
		}
		return false, err
	})
	return number
}

// failedWith waits until the job has failed, and checks the reason and the remedy.
func (w *world) failedWith(t *testing.T, id, why, remedy string) (at phase.State) {
	t.Helper()
	harness.Until(t, "the job fails", func() (bool, error) {
		s, err := w.Jobs.Read(t.Context(), id)
		if err != nil {
			return false, err
		}
		at = s.Job.State
		last := s.Job.Journal[max(0, len(s.Job.Journal)-10):]
		return at.Phase == phase.Failed, fmt.Errorf("%s: %v", at.Shown(), last)
	})
	if !strings.Contains(at.Why, why) || !strings.Contains(at.Remedy, remedy) {
		t.Errorf("the job has failed: %s: %s; want %q: %q", at.Why, at.Remedy, why, remedy)
	}
	return at
}

func (w *world) resume(t *testing.T, id string) {
	t.Helper()
	w.order(t, id, func(phase.State) phase.Event { return phase.Event{Kind: phase.Resume} })
}

// toTheEnd hands all genes over, and finishes.
func (w *world) toTheEnd(t *testing.T, id string) {
	t.Helper()
	s, err := w.Jobs.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if s.Job.State.Phase == phase.Ready {
		w.cut(t, id, 100, 25)
	}
	w.phase(t, id, phase.Cut)
	w.finish(t, id)
	w.phase(t, id, phase.Done)
}

// runAgain aborts the job, and runs it again.
func (w *world) runAgain(t *testing.T) {
	t.Helper()
	w.order(t, splitting, func(phase.State) phase.Event { return phase.Event{Kind: phase.Abort} })
	w.phase(t, splitting, phase.Aborted)
	const again = "split-2"
	w.plan(t, again, job.Split, "s0", "s2")
	w.phase(t, again, phase.Ready)
	w.toTheEnd(t, again)
}

// purge removes all of a server's binary log until now.
func purge(t *testing.T, s *servers.Server) {
	t.Helper()
	db := s.DB(t, schema)
	defer db.Close()
	before, err := binaryLogs(db)
	if err != nil {
		t.Fatal(err)
	}
	harness.Until(t, "the log is purged", func() (bool, error) {
		if _, err := db.Exec("FLUSH BINARY LOGS"); err != nil {
			return false, err
		}
		logs, err := binaryLogs(db)
		if err != nil {
			return false, err
		}
		if !slices.Contains(logs, before[len(before)-1]) {
			return true, nil
		}
		_, err = db.Exec("PURGE BINARY LOGS TO '" + logs[len(logs)-1] + "'")
		return false, err
	})
}

func binaryLogs(db *sql.DB) (names []string, err error) {
	rows, err := db.Query("SHOW BINARY LOGS")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]any, len(columns))
		var name string
		values[0] = &name
		for i := 1; i < len(values); i++ {
			values[i] = new(sql.RawBytes)
		}
		if err := rows.Scan(values...); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// put writes a key, or deletes it.
func (w *world) put(t *testing.T, key string, value []byte) {
	t.Helper()
	write := etcd.Put(key, value)
	if value == nil {
		write = etcd.Delete(key)
	}
	if _, err := w.KV.Commit(t.Context(), nil, write); err != nil {
		t.Fatal(err)
	}
}
