package row

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"locus/idgen/segment"
)

// Table is the table of tags in one database. It is safe for concurrent use.
type Table struct {
	db   *sql.DB
	name string // quoted
	now  func() time.Time

	bounds segment.Seen // max_id by tag

	mu    sync.Mutex        // guards the fields below; never held across a statement
	tags  map[string]uint64 // step by tag, as last read
	asOf  time.Time
	plain bool // the table has no version column; see Extend
}

// refresh is how long a list of tags is valid.
const refresh = time.Minute

var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

// Open returns the table with a name, table or schema.table. It need not exist yet; see Create. now is the clock for when
// tags were read (time.Now).
func Open(db *sql.DB, name string, now func() time.Time) (*Table, error) {
	if !tableName.MatchString(name) {
		return nil, fmt.Errorf("table name %q: use letters, digits and '_', as table or schema.table", name)
	}
	return &Table{db: db, name: name, now: now}, nil
}

// Create creates the table and missing tags, with the given step.
func (t *Table) Create(ctx context.Context, step uint64, tags ...string) error {
	if step == 0 {
		return errors.New("create tags: a step of 0 grants nothing: use 1 or more")
	}
	_, err := t.db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+t.name+` (
  biz_tag VARBINARY(128) NOT NULL PRIMARY KEY,
  max_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
  step BIGINT UNSIGNED NOT NULL,
  version BIGINT UNSIGNED NOT NULL DEFAULT 0,
  update_time TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6))`)
	if err != nil {
		return fmt.Errorf("create %s: %w", t.name, err)
	}
	for _, tag := range tags {
		if _, err := t.db.ExecContext(ctx, "INSERT IGNORE INTO "+t.name+" (biz_tag, step) VALUES (?, ?)", []byte(tag), step); err != nil {
			return fmt.Errorf("create tag %s: %w", tag, err)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asOf = time.Time{}
	return nil
}

// Raise creates the tag if it doesn't exist. It raises the tag's next number above the bound and above everything that
// this process has seen.
func (t *Table) Raise(ctx context.Context, tag string, bound uint64) error {
	bound = max(bound, t.bounds.Of(tag))
	_, err := t.db.ExecContext(ctx, "INSERT INTO "+t.name+" (biz_tag, max_id, step) VALUES (?, ?, 1) "+
		"ON DUPLICATE KEY UPDATE max_id = GREATEST(max_id, ?), version = version + 1", []byte(tag), bound, bound)
	if err != nil {
		return fmt.Errorf("raise tag %s to %d: %w", tag, bound, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tags != nil {
		t.tags[tag] = 1
	}
	return nil
}

// Left returns the unused share of a tag's numbers, from 1 down to 0, as far as this process knows.
func (t *Table) Left(tag string) float64 { return 1 - float64(t.bounds.Of(tag))/maxID }

// Has returns an error if the tag has no row, or can't be read.
func (t *Table) Has(ctx context.Context, tag string) error {
	_, err := t.Step(ctx, tag)
	return err
}

// Step returns a tag's smallest segment from memory. An unknown tag is refused from memory too, until the list is a minute
// old.
func (t *Table) Step(ctx context.Context, tag string) (uint64, error) {
	t.mu.Lock()
	step, known := t.tags[tag]
	age, read := t.now().Sub(t.asOf), !t.asOf.IsZero()
	t.mu.Unlock()
	if age < 0 || age > refresh || !read {
		if err := t.read(ctx); err != nil {
			if known { // the table is unavailable, but tags don't disappear
				return step, nil
			}
			return 0, err
		}
		t.mu.Lock()
		step, known = t.tags[tag]
		t.mu.Unlock()
	}
	switch {
	case !known:
		return 0, fmt.Errorf("%w %q: no row of %s has it (tags are read every %s)", segment.ErrUnknownTag, tag, t.name, refresh)
	case step == 0:
		return 0, fmt.Errorf("tag %s has step 0 in %s, which grants nothing: UPDATE it to 1 or more", tag, t.name)
	}
	return step, nil
}

// versionless reports whether the table has no version, like Leaf's. Its tags must have been read.
func (t *Table) versionless() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plain
}

// lacksVersion queries whether the table has no version.
func (t *Table) lacksVersion(ctx context.Context) (bool, error) {
	schema, name, qualified := strings.Cut(t.name, ".")
	if !qualified {
		schema, name = "", t.name
	}
	var columns int
	err := t.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE(NULLIF(?, ''), DATABASE()) "+
		"AND TABLE_NAME = ? AND COLUMN_NAME = 'version'", schema, name).Scan(&columns)
	return columns == 0, err
}

func (t *Table) read(ctx context.Context) error {
	plain, err := t.lacksVersion(ctx)
	if err != nil {
		return fmt.Errorf("read columns of %s: %w", t.name, err)
	}
	rows, err := t.db.QueryContext(ctx, "SELECT biz_tag, step FROM "+t.name)
	if err != nil {
		return fmt.Errorf("read tags of %s: %w", t.name, err)
	}
	defer rows.Close()
	tags := map[string]uint64{}
	for rows.Next() {
		var tag string
		var step uint64
		if err := rows.Scan(&tag, &step); err != nil {
			return fmt.Errorf("read tags of %s: %w", t.name, err)
		}
		tags[tag] = step
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read tags of %s: %w", t.name, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tags, t.asOf, t.plain = tags, t.now(), plain
	return nil
}
