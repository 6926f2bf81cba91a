package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"locus/cmd/dbserver"
)

// importsRow measures imports: a table of a server outside of the cluster is imported to two shards, and a
// table of the default shard is sharded and made single again while clients write to it.
func importsRow(engine string, rows int) row {
	return row{"imports, " + engine, func(ctx context.Context, s *stand, r *report) error {
		m, err := newMoves(ctx, s.options, engine, rows)
		if err != nil {
			return err
		}
		defer m.close()
		i := &imports{moves: m}
		for _, part := range []func(context.Context, *report) error{i.copies, i.switches} {
			before := len(r.figures)
			err := part(ctx, r)
			for n := range r.figures[before:] {
				r.figures[before+n].of = ofImports
			}
			if err != nil {
				return err
			}
		}
		return nil
	}}
}

// imports is a demo that tables are imported into.
type imports struct {
	*moves
	outside endpoint
}

// The tables that are imported have no other name anywhere, and their IDs their owners' genes already: rows are copied as they are.
const (
	pastTable  = "past_order"
	secretPast = "outside/past"
)

func pastForm(table string) string {
	return "CREATE TABLE " + table + ` (
		order_id BIGINT NOT NULL PRIMARY KEY, order_no BIGINT NOT NULL, buyer_uid BIGINT NOT NULL,
		amount DECIMAL(12,2) NOT NULL DEFAULT 0, status VARCHAR(16) NOT NULL DEFAULT 'new', version BIGINT NOT NULL,
		created_at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), KEY (order_no), KEY (buyer_uid)
	) DEFAULT CHARSET utf8mb4`
}

// startOutside starts a server outside of the cluster, with the table and its rows.
func (i *imports) startOutside(ctx context.Context) error {
	engine, err := dbserver.ParseEngine(i.engine)
	if err != nil {
		return err
	}
	installation, err := dbserver.Find(ctx, engine, "")
	if err != nil {
		return err
	}
	server, err := dbserver.Start(ctx, installation, dbserver.Options{Dir: filepath.Join(i.dir, "outside")})
	if err != nil {
		return err
	}
	i.undo = append(i.undo, func() { _ = server.Kill() })
	const user, password = "past", "past"
	if err := server.CreateUser(ctx, dbserver.User{Name: user, Password: password}); err != nil {
		return err
	}
	secret := filepath.Join(i.dir, "demo", "secrets", filepath.FromSlash(secretPast))
	if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(secret, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	i.outside = endpoint{addr: server.Addr(), user: user, password: password}
	database := i.ready.Database
	if err := i.on(ctx, i.outside, append(hurried, "CREATE DATABASE "+database)...); err != nil {
		return err
	}
	i.outside.database = database
	return i.on(ctx, i.outside, append([]string{pastForm(pastTable)}, pastRows(i.rows)...)...)
}

// pastRows returns statements that insert orders of n buyers.
func pastRows(n int) []string {
	uid := firstWriter - 1
	return ordersOf(pastTable, n, func() int64 { uid++; return uid })
}

// beginImport begins an import and returns the job's ID.
func (i *imports) beginImport(ctx context.Context, more ...string) (string, error) {
	out, err := i.locus(ctx, append([]string{"import", i.ready.Database + "." + pastTable, "owner=buyer_uid", "id=order_id"}, more...)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(out, "job "), ":")
	return id, nil
}

// copies compares the copy with LOAD DATA of the same rows into the same shards, in turns.
func (i *imports) copies(ctx context.Context, r *report) error {
	if err := i.startOutside(ctx); err != nil {
		return err
	}
	var ratios, rates []float64
	for range i.copyRounds() {
		copied, err := i.copyOnce(ctx)
		if err != nil {
			return err
		}
		loaded, err := i.loadOnce(ctx)
		if err != nil {
			return err
		}
		ratios = append(ratios, float64(loaded)/float64(copied))
		rates = append(rates, float64(i.rows)/copied.Seconds())
	}
	ratio := spreadOf(ratios)
	r.figures = append(r.figures, figure{
		name: i.engine + ": import ÷ LOAD DATA of ready files", value: ratio, judged: ratio.median, digits: 2, bound: bound{atLeast, 0.7, 1},
		detail: fmt.Sprintf("%.0f rows/s of %d, from a server outside to two shards; a file for each shard, both loaded at once", spreadOf(rates).median, i.rows),
	})
	return nil
}

func (i *imports) copyOnce(ctx context.Context) (time.Duration, error) {
	id, err := i.beginImport(ctx, "--from", i.outside.user+"@"+i.outside.addr, "--secret", secretPast)
	if err != nil {
		return 0, err
	}
	j, err := i.until(ctx, id, "ready")
	if err != nil {
		return 0, err
	}
	took := j.at("catching-up").Sub(j.at("copying"))
	if _, err := i.locus(ctx, "abort", id, "--yes"); err != nil {
		return 0, err
	}
	_, err = i.until(ctx, id, "aborted")
	return took, err
}

// loadOnce returns how long both shards take to load their rows from files, concurrently.
func (i *imports) loadOnce(ctx context.Context) (time.Duration, error) {
	const share = int64(0x8000) << (versionBits + sequenceBits)
	login := func(at endpoint) string {
		host, port, _ := strings.Cut(at.addr, ":")
		return fmt.Sprintf("-h%s -P%s -u%s -p%s --skip-ssl", host, port, at.user, at.password)
	}
	var lines []string
	for n, where := range []string{fmt.Sprintf("order_id < %d", share), fmt.Sprintf("order_id >= %d", share)} {
		file, shard := filepath.Join(i.dir, fmt.Sprintf("part-%d.tsv", n)), i.ready.Shards[n].endpoint()
		if err := i.on(ctx, shard, "CREATE DATABASE IF NOT EXISTS bench", "DROP TABLE IF EXISTS bench."+pastTable, pastForm("bench."+pastTable)); err != nil {
			return 0, err
		}
		if err := shell(ctx, fmt.Sprintf("mariadb %s -B -N -q -e 'SELECT * FROM %s.%s WHERE %s' > %s", login(i.outside), i.outside.database, pastTable, where, file)); err != nil {
			return 0, err
		}
		lines = append(lines, fmt.Sprintf("mariadb --local-infile %s -e \"LOAD DATA LOCAL INFILE '%s' INTO TABLE bench.%s\"", login(shard), file, pastTable))
	}
	began := time.Now()
	var loading sync.WaitGroup
	errs := make([]error, len(lines))
	for n, line := range lines {
		loading.Go(func() { errs[n] = shell(ctx, line) })
	}
	loading.Wait()
	took := time.Since(began)
	for _, shard := range i.ready.Shards[:len(lines)] {
		errs = append(errs, i.on(ctx, shard.endpoint(), "DROP DATABASE bench"))
	}
	return took, errors.Join(errs...)
}
