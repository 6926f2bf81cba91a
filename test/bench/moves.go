package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// movesRow measures moves: a split of half of a shard's genes, as an operator does it, in a separate demo with
// a spare shard and three proxies.
func movesRow(engine string, rows int) row {
	name := "moves, " + engine
	return row{name, func(ctx context.Context, s *stand, r *report) error {
		m, err := newMoves(ctx, s.options, engine, rows, "--spare", "1")
		if err != nil {
			return err
		}
		defer m.close()
		if err := m.fill(ctx); err != nil {
			return err
		}
		for _, part := range []func(context.Context, *report) error{m.copies, m.split, m.planted, m.memory} {
			before := len(r.figures)
			err := part(ctx, r)
			for i := range r.figures[before:] {
				r.figures[before+i].of = ofMoves
			}
			if err != nil {
				return err
			}
		}
		return nil
	}}
}

// hurried contains settings that keep the disk out of the figures, and that permit loading files.
var hurried = []string{"SET GLOBAL innodb_flush_log_at_trx_commit = 2", "SET GLOBAL sync_binlog = 0", "SET GLOBAL local_infile = 1"}

// moves is a demo whose first shard has orders to move.
type moves struct {
	options
	engine string
	rows   int
	binary string
	dir    string
	ready  ready
	undo   []func()
	jobs   int
}

// newMoves starts the demo with further arguments.
func newMoves(ctx context.Context, o options, engine string, rows int, more ...string) (_ *moves, err error) {
	m := &moves{options: o, engine: engine, rows: rows}
	m.options.engine, m.options.ready = engine, ""
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if m.binary, err = buildProduct(ctx); err != nil {
		return nil, err
	}
	if m.dir, err = os.MkdirTemp("", "locus-bench-moves-"); err != nil {
		return nil, err
	}
	m.undo = append(m.undo, func() { _ = os.RemoveAll(m.dir) })
	r, demo, err := startDemo(ctx, m.options, m.dir, more...)
	if err != nil {
		return nil, err
	}
	m.ready = r
	m.undo = append(m.undo, func() { demo.stop(demoStopPatience) })
	for _, shard := range r.Shards {
		if err := m.on(ctx, shard.endpoint(), hurried...); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *moves) close() {
	for i := len(m.undo) - 1; i >= 0; i-- {
		m.undo[i]()
	}
}

// on runs statements at a server, one after the other on one connection.
func (m *moves) on(ctx context.Context, at endpoint, statements ...string) error {
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range statements {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := c.Execute(text); err != nil {
			return fmt.Errorf("%.200s: %w", text, err)
		}
	}
	return nil
}

// The genes that move are the upper half of the first of two shards.
const (
	firstMoved = 0x4000
	lastMoved  = 0x7fff
)

func isMoved(uid int64) bool { g := geneOf(uid); return firstMoved <= g && g <= lastMoved }

// fill makes the rows that are moved, by the shard's own address.
func (m *moves) fill(ctx context.Context) error {
	uid := firstWriter
	return m.on(ctx, m.ready.Shards[0].endpoint(), ordersOf("test_order", m.rows, func() int64 {
		for uid++; !isMoved(uid); uid++ {
		}
		return uid
	})...)
}

// ordersOf returns statements that insert n orders, one for each buyer that next returns.
func ordersOf(table string, n int, next func() int64) (texts []string) {
	var text strings.Builder
	for k := range n {
		if text.Len() == 0 {
			text.WriteString("INSERT INTO " + table + " (" + orderColumns + ") VALUES ")
		} else {
			text.WriteByte(',')
		}
		uid := next()
		order := newOwner(uid, writerSequences+int64(k)).order
		fmt.Fprintf(&text, "(%d,%d,%d,%d.50,'state-%d',1)", order, orderNumber(order), uid, k%1000, k%7)
		if k%2000 == 1999 || k == n-1 {
			texts = append(texts, text.String())
			text.Reset()
		}
	}
	return texts
}

const orderColumns = "order_id, order_no, buyer_uid, amount, status, version"

// locus runs a command of the product.
func (m *moves) locus(ctx context.Context, args ...string) (string, error) {
	args = append(args, "-c", filepath.Join(m.dir, "demo", "proxy-0.yaml"))
	out, err := exec.CommandContext(ctx, m.binary, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("locus %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// movedJob is a job in the output of `locus jobs JOB -o json`.
type movedJob struct {
	ID, Phase string
	Percent   float64
	State     struct{ Why string }
	Journal   []struct {
		At   time.Time
		What string
	}
}

// at returns the time at which a phase began, from the journal.
func (j movedJob) at(phase string) time.Time {
	for _, e := range j.Journal {
		if strings.HasSuffix(e.What, "→ "+phase) {
			return e.At
		}
	}
	return time.Time{}
}

const movePatience = 5 * time.Minute

// until waits until a job is in one of the phases.
func (m *moves) until(ctx context.Context, id string, phases ...string) (movedJob, error) {
	ctx, cancel := context.WithTimeout(ctx, movePatience)
	defer cancel()
	for {
		out, err := m.locus(ctx, "jobs", id, "-o", "json")
		if err != nil {
			return movedJob{}, err
		}
		var j movedJob
		if err := json.Unmarshal([]byte(out), &j); err != nil {
			return j, err
		}
		for _, p := range phases {
			if j.Phase == p {
				return j, nil
			}
		}
		if j.Phase == "failed" || j.Phase == "paused" {
			return j, fmt.Errorf("job %s is %s: %s", id, j.Phase, j.State.Why)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return j, fmt.Errorf("job %s is %s, and not %v: %w", id, j.Phase, phases, ctx.Err())
		}
	}
}

func (m *moves) begin(ctx context.Context) (string, error) {
	m.jobs++
	_, err := m.locus(ctx, "split", "--from", "s0", "--to", "s2", "--half")
	return fmt.Sprintf("split-%d", m.jobs), err
}

// copies compares the copy with a dump and with LOAD DATA of the same rows, in turns.
func (m *moves) copies(ctx context.Context, r *report) error {
	var byDump, byLoad, ours []float64
	for range m.copyRounds() {
		copied, err := m.copyOnce(ctx)
		if err != nil {
			return err
		}
		dumped, loaded, err := m.dumpOnce(ctx)
		if err != nil {
			return err
		}
		byDump = append(byDump, float64(dumped)/float64(copied))
		byLoad = append(byLoad, float64(loaded)/float64(copied))
		ours = append(ours, float64(m.rows)/copied.Seconds())
	}
	detail := fmt.Sprintf("%.0f rows/s of %d", spreadOf(ours).median, m.rows)
	dump, load := spreadOf(byDump), spreadOf(byLoad)
	r.figures = append(r.figures,
		figure{name: m.engine + ": copy ÷ dump | load", value: dump, judged: dump.median, digits: 2, bound: bound{atLeast, 1.5, 1.5}, detail: detail},
		figure{name: m.engine + ": copy ÷ LOAD DATA of a ready file", value: load, judged: load.median, digits: 2, bound: bound{atLeast, 0.7, 1}, detail: detail})
	return nil
}

func (m *moves) copyRounds() int { return min(m.rounds, 3) }

// copyOnce returns how long one copy takes, by the job's journal, and then aborts the job.
func (m *moves) copyOnce(ctx context.Context) (time.Duration, error) {
	id, err := m.begin(ctx)
	if err != nil {
		return 0, err
	}
	j, err := m.until(ctx, id, "ready")
	if err != nil {
		return 0, err
	}
	took := j.at("catching-up").Sub(j.at("copying"))
	if _, err := m.locus(ctx, "abort", id, "--yes"); err != nil {
		return 0, err
	}
	_, err = m.until(ctx, id, "aborted")
	return took, err
}

// dumpOnce returns how long the servers' own programs take to copy the same rows into an equal table.
func (m *moves) dumpOnce(ctx context.Context) (dump, load time.Duration, err error) {
	source, target := m.ready.Shards[0], m.ready.Shards[2]
	form, err := m.createTable(ctx, source.endpoint())
	if err != nil {
		return 0, 0, err
	}
	if err := m.on(ctx, target.endpoint(), "CREATE DATABASE IF NOT EXISTS bench", "DROP TABLE IF EXISTS bench.test_order", "USE bench", form); err != nil {
		return 0, 0, err
	}
	login := func(s readyShard) string {
		host, port, _ := strings.Cut(s.Addr, ":")
		return fmt.Sprintf("-h%s -P%s -u%s -p%s --skip-ssl", host, port, s.User, s.Password)
	}
	where := fmt.Sprintf("order_id >= %d", int64(firstMoved)<<(versionBits+sequenceBits))
	began := time.Now()
	if err := shell(ctx, fmt.Sprintf("mariadb-dump %s --single-transaction --no-create-info --skip-add-locks --where='%s' %s test_order | mariadb %s bench",
		login(source), where, source.Database, login(target))); err != nil {
		return 0, 0, err
	}
	dump = time.Since(began)
	file := filepath.Join(m.dir, "rows.tsv")
	if err := shell(ctx, fmt.Sprintf("mariadb %s -B -N -q -e 'SELECT * FROM %s.test_order WHERE %s' > %s", login(source), source.Database, where, file)); err != nil {
		return 0, 0, err
	}
	if err := m.on(ctx, target.endpoint(), "TRUNCATE TABLE bench.test_order"); err != nil {
		return 0, 0, err
	}
	began = time.Now()
	if err := shell(ctx, fmt.Sprintf("mariadb --local-infile %s -e \"LOAD DATA LOCAL INFILE '%s' INTO TABLE bench.test_order\"", login(target), file)); err != nil {
		return 0, 0, err
	}
	load = time.Since(began)
	return dump, load, m.on(ctx, target.endpoint(), "DROP DATABASE bench")
}

func (m *moves) createTable(ctx context.Context, at endpoint) (string, error) {
	c, err := client.Connect(at.addr, at.user, at.password, at.database)
	if err != nil {
		return "", err
	}
	defer c.Close()
	answer, err := c.Execute("SHOW CREATE TABLE test_order")
	if err != nil {
		return "", err
	}
	return answer.GetString(0, 1)
}

func shell(ctx context.Context, line string) error {
	if out, err := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", line).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// plantings are differences that a comparison must find, each in another row.
var plantings = []string{
	"DELETE FROM test_order WHERE buyer_uid = %d",                       // missing
	"UPDATE test_order SET amount = amount + 0.01 WHERE buyer_uid = %d", // one digit
	"INSERT INTO test_order SELECT order_id + 1, order_no + 1, buyer_uid, amount, status, version, created_at FROM test_order WHERE buyer_uid = %d", // one too many
	"UPDATE test_order SET order_no = NULL WHERE buyer_uid = %d",                                                                                    // NULL
	"UPDATE test_order SET status = '' WHERE buyer_uid = %d",                                                                                        // empty
	"UPDATE test_order SET status = UPPER(status) WHERE buyer_uid = %d",                                                                             // equal by collation
	"UPDATE test_order SET status = CONCAT(status, ' ') WHERE buyer_uid = %d",                                                                       // a trailing space
	"UPDATE test_order SET created_at = created_at + INTERVAL 1000 MICROSECOND WHERE buyer_uid = %d",                                                // a millisecond
}

// planted creates differences on the shard that the move keeps equal, and lets the comparison find them.
func (m *moves) planted(ctx context.Context, r *report) error {
	id := fmt.Sprintf("split-%d", m.jobs)
	texts := []string{"SET SESSION sql_log_bin = 0"}
	uid := firstWriter
	for _, p := range plantings {
		for uid++; !isMoved(uid); uid++ {
		}
		texts = append(texts, fmt.Sprintf(p, uid))
	}
	if err := m.on(ctx, m.ready.Shards[0].endpoint(), texts...); err != nil {
		return err
	}
	out, err := m.locus(ctx, "verify", id)
	if err == nil {
		return errors.New("nothing that was planted was found")
	}
	_, after, _ := strings.Cut(out, "the servers differ in ")
	number, _, _ := strings.Cut(after, " ")
	found, convErr := strconv.Atoi(number)
	if convErr != nil {
		return err
	}
	share := float64(found) / float64(len(plantings))
	r.figures = append(r.figures, figure{
		name: m.engine + ": planted differences found", value: single(share), judged: 1 - math.Abs(1-share), digits: 2, bound: bound{atLeast, 1, 1},
		detail: fmt.Sprintf("%d of %d: a missing row, one too many, a digit, NULL, empty, equal by collation, a trailing space, a millisecond", found, len(plantings)),
	})
	return nil
}

// memory reports the peak memory of a process that serves clients and moves rows.
func (m *moves) memory(_ context.Context, r *report) error {
	most := 0.0
	for _, p := range m.ready.Proxies {
		used, err := memoryOf(p.PID)
		if err != nil {
			return err
		}
		most = max(most, float64(used.peak)/mebibyte)
	}
	r.figures = append(r.figures, figure{
		name: m.engine + ": memory of a proxy that moves rows", value: single(most), judged: most, unit: "MiB", bound: bound{atMost, 256, 256},
		detail: "the most of three, from the start on",
	})
	return nil
}
