package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

// Targets for statements that need few rows of few shards, as ratios of their times.
const (
	mostOfLookup    = 2.2 // SELECT by a look-up index ÷ by the owner
	mostOfIndexed   = 1.1 // INSERT with an entry on another shard ÷ a transaction of two shards
	mostOfOneByKey  = 2.5 // a join by the key of one row ÷ SELECT by the owner
	leastOfManyKeys = 5.0 // gathering all rows ÷ sending 1,000 keys
)

const (
	fewRowsTries = 400
	fewRowsHeavy = 15 // for joins of many rows
	fewRowsAll   = 30_000
	fewRowsKeys  = 1000
)

var fewRowsTables = []string{
	"CREATE TABLE bench_person (id BIGINT NOT NULL PRIMARY KEY, email VARCHAR(60) NOT NULL, n INT NOT NULL DEFAULT 1, UNIQUE KEY (email)) COMMENT 'locus: owner=id'",
	"CREATE TABLE bench_person_by_email (email VARCHAR(60) NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, email)) COMMENT 'locus: lookup=bench_person.email'",
	"CREATE TABLE bench_mail (id BIGINT NOT NULL PRIMARY KEY, person BIGINT NOT NULL, batch INT NOT NULL, KEY (batch)) COMMENT 'locus: owner=id'",
	"CREATE TABLE bench_plain (id BIGINT NOT NULL PRIMARY KEY, email VARCHAR(60) NOT NULL, n INT NOT NULL DEFAULT 1, UNIQUE KEY (email)) COMMENT 'locus: owner=id'",
}

// fewRowsRow compares statements that find their rows by a look-up index or by the keys of other rows, on three shards, with statements that name
// the owner, or gather all rows.
func fewRowsRow(engine string) row {
	return row{"few rows, " + engine, func(ctx context.Context, s *stand, r *report) error {
		m, err := newMoves(ctx, s.options, engine, 0, "--shards", "3", "--proxies", "1")
		if err != nil {
			return err
		}
		defer m.close()
		at := m.ready.proxy(0)
		if at.user, at.password, err = m.dba(); err != nil {
			return err
		}
		c, err := client.ConnectWithContext(ctx, at.addr, at.user, at.password, at.database, 10*time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		f := fewRows{c: c, engine: engine, shards: m.ready.Shards}
		if err := f.fill(ctx, at.database); err != nil {
			return err
		}
		for _, measure := range []func(context.Context, *report) error{f.reads, f.inserts, f.manyKeys} {
			if err := measure(ctx, r); err != nil {
				return err
			}
		}
		return nil
	}}
}

// dba returns the login of the demo's administrator, who may fill look-up tables.
func (m *moves) dba() (user, password string, err error) {
	secret, err := os.ReadFile(filepath.Join(m.dir, "demo", "secrets", "users", "dba"))
	return "dba", strings.TrimSpace(string(secret)), err
}

type fewRows struct {
	c      *client.Conn
	engine string
	shards []readyShard
}

// fill creates the tables with their rows.
func (f *fewRows) fill(ctx context.Context, database string) error {
	for _, text := range fewRowsTables {
		if _, err := f.c.Execute(text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	for from := 0; from < fewRowsAll; from += rowsPerInsert {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var people, mails []string
		for i := from; i < from+rowsPerInsert; i++ {
			people = append(people, fmt.Sprintf("(%d, 'user%d@example.org')", i, i))
			mails = append(mails, fmt.Sprintf("(%d, %d, %d)", i, (i*7919)%fewRowsAll, i/fewRowsKeys))
		}
		for _, text := range []string{"INSERT INTO bench_person (id, email) VALUES " + strings.Join(people, ", "), "INSERT INTO bench_mail VALUES " + strings.Join(mails, ", ")} {
			if _, err := f.c.Execute(text); err != nil {
				return err
			}
		}
	}
	_, err := f.c.Execute("CALL locus.fill_lookup('" + database + ".bench_person_by_email')")
	return err
}

// alternately runs two ways of doing something, n times each, and returns the medians in microseconds.
func (f *fewRows) alternately(ctx context.Context, n int, ways ...func(i int) error) (medians []float64, err error) {
	times := make([][]float64, len(ways))
	for i := range n {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for w, way := range ways {
			if err := since(&times[w], func() error { return way(i) }); err != nil {
				return nil, err
			}
		}
	}
	for _, list := range times {
		medians = append(medians, 1000*spreadOf(list[len(list)/10:]).median)
	}
	return medians, nil
}

// one runs a query that returns one row.
func (f *fewRows) one(text string) error {
	result, err := f.c.Execute(text)
	if err != nil {
		return err
	}
	defer result.Close()
	if n := result.RowNumber(); n != 1 {
		return fmt.Errorf("%s: %d rows", text, n)
	}
	return nil
}

func (f *fewRows) figure(name string, ratio float64, b bound, times []float64) figure {
	return figure{
		name: f.engine + ": " + name, value: single(ratio), judged: ratio, digits: 2, bound: b, of: ofFewRows,
		detail: fmt.Sprintf("%.0f and %.0f µs, one client, medians of times in turn", times[0], times[1]),
	}
}

// reads compares statements that find one row.
func (f *fewRows) reads(ctx context.Context, r *report) error {
	key := func(i int) int { return (i * 7907) % fewRowsAll }
	times, err := f.alternately(ctx, fewRowsTries,
		func(i int) error { return f.one(fmt.Sprintf("SELECT n FROM bench_person WHERE id = %d", key(i))) },
		func(i int) error {
			return f.one(fmt.Sprintf("SELECT n FROM bench_person WHERE email = 'user%d@example.org'", key(i)))
		},
		func(i int) error {
			return f.one(fmt.Sprintf("SELECT p.n FROM bench_mail m JOIN bench_person p ON p.id = m.person WHERE m.id = %d", key(i)))
		})
	if err != nil {
		return err
	}
	lookup, join := times[1]/times[0], times[2]/times[0]
	r.figures = append(r.figures,
		f.figure("SELECT by a look-up index ÷ by the owner", lookup, bound{atMost, mostOfLookup, mostOfLookup}, []float64{times[1], times[0]}),
		f.figure("join by the key of one row ÷ SELECT by the owner", join, bound{atMost, mostOfOneByKey, mostOfOneByKey}, []float64{times[2], times[0]}))
	return nil
}

// inserts compares an INSERT whose entry is on another shard with a transaction that inserts two rows on two shards.
func (f *fewRows) inserts(ctx context.Context, r *report) error {
	indexed, err := f.elsewhere(2_000_000)
	if err != nil {
		return err
	}
	plain, err := f.pairs(3_000_000)
	if err != nil {
		return err
	}
	insert := "INSERT INTO %s (id, email) VALUES (%d, 'new%[2]d@example.org')"
	times, err := f.alternately(ctx, fewRowsTries,
		func(i int) error { _, err := f.c.Execute(fmt.Sprintf(insert, "bench_person", indexed[i])); return err },
		func(i int) error {
			for _, text := range []string{"BEGIN", fmt.Sprintf(insert, "bench_plain", plain[i][0]), fmt.Sprintf(insert, "bench_plain", plain[i][1]), "COMMIT"} {
				if _, err := f.c.Execute(text); err != nil {
					return err
				}
			}
			return nil
		})
	if err != nil {
		return err
	}
	ratio := times[0] / times[1]
	r.figures = append(r.figures, f.figure("INSERT with an entry on another shard ÷ a transaction of two shards", ratio, bound{atMost, mostOfIndexed, mostOfIndexed}, times))
	return nil
}

// placed returns the shard of each row of a table whose e-mail address is like a pattern, by the value of a column.
func (f *fewRows) placed(table, column, like string) (map[string]int, error) {
	at := map[string]int{}
	for i, shard := range f.shards {
		e := shard.endpoint()
		c, err := client.Connect(e.addr, e.user, e.password, e.database)
		if err != nil {
			return nil, err
		}
		result, err := c.Execute("SELECT " + column + ", email FROM " + table + " WHERE email LIKE '" + like + "'")
		if err == nil {
			for row := range result.RowNumber() {
				name, _ := result.GetString(row, 0)
				at[name] = i
			}
		}
		_ = c.Close()
		if err != nil {
			return nil, err
		}
	}
	return at, nil
}

// try inserts rows to find out where they are, and deletes them afterwards.
func (f *fewRows) try(table string, from int, see func() error) error {
	var rows []string
	for i := from; i < from+4*fewRowsTries; i++ {
		rows = append(rows, fmt.Sprintf("(%d, 'new%d@example.org')", i, i))
	}
	if _, err := f.c.Execute("INSERT INTO " + table + " (id, email) VALUES " + strings.Join(rows, ", ")); err != nil {
		return err
	}
	if err := see(); err != nil {
		return err
	}
	for i := from; i < from+4*fewRowsTries; i++ {
		if _, err := f.c.Execute(fmt.Sprintf("DELETE FROM %s WHERE id = %d", table, i)); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere returns IDs whose rows and entries are on different shards.
func (f *fewRows) elsewhere(from int) (ids []int, err error) {
	err = f.try("bench_person", from, func() error {
		rows, err := f.placed("bench_person", "email", "new%")
		if err != nil {
			return err
		}
		entries, err := f.placed("bench_person_by_email", "email", "new%")
		if err != nil {
			return err
		}
		for i := from; i < from+4*fewRowsTries; i++ {
			if email := fmt.Sprintf("new%d@example.org", i); rows[email] != entries[email] {
				ids = append(ids, i)
			}
		}
		return nil
	})
	return enough(ids, err)
}

// pairs returns pairs of IDs whose rows are on different shards.
func (f *fewRows) pairs(from int) (pairs [][2]int, err error) {
	err = f.try("bench_plain", from, func() error {
		rows, err := f.placed("bench_plain", "id", "new%")
		if err != nil {
			return err
		}
		for i := from; i+1 < from+4*fewRowsTries; i += 2 {
			if rows[fmt.Sprint(i)] != rows[fmt.Sprint(i+1)] {
				pairs = append(pairs, [2]int{i, i + 1})
			}
		}
		return nil
	})
	return enough(pairs, err)
}

func enough[T any](list []T, err error) ([]T, error) {
	if err == nil && len(list) < fewRowsTries {
		err = fmt.Errorf("only %d of %d rows are on two shards", len(list), fewRowsTries)
	}
	return list, err
}

// manyKeys compares a join that sends 1,000 keys to three shards with one that gathers 30,000 rows.
func (f *fewRows) manyKeys(ctx context.Context, r *report) error {
	const join = "SELECT COUNT(*), SUM(p.n) FROM bench_mail m JOIN bench_person p ON p.id%s = m.person WHERE m.batch = %d"
	times, err := f.alternately(ctx, fewRowsHeavy,
		func(i int) error { return f.one(fmt.Sprintf(join, " + 0", i)) },
		func(i int) error { return f.one(fmt.Sprintf(join, "", i)) })
	if err != nil {
		return err
	}
	ratio := times[0] / times[1]
	r.figures = append(r.figures, f.figure("gathering 30,000 rows ÷ sending 1,000 keys to three shards", ratio, bound{atLeast, leastOfManyKeys, leastOfManyKeys}, times))
	return nil
}
