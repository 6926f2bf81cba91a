package newshard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/proxy/ddl"
	"locus/router/catalog"
)

// Make creates databases, tables, routines and views with the first shard's definitions. If a table can't be
// created, Make drops the tables that it has created. If a routine or view can't be created, the tables stay,
// because an operator who creates it by hand needs them. The error lists what stays.
func (p *Plan) Make(ctx context.Context) error {
	for _, l := range p.Lacking {
		if err := l.make(ctx); err != nil {
			return fmt.Errorf("shard %s: %w", l.Shard, err)
		}
	}
	return nil
}

// making holds the connections for one shard, and the objects that were created there.
type making struct {
	*Lacking
	first, there *link.Conn
	made         []string // statements that undo it, in the order of creation
}

func (l *Lacking) make(ctx context.Context) (err error) {
	m := making{Lacking: l}
	if m.first, err = dial(ctx, l.first); err != nil {
		return err
	}
	defer m.first.Close()
	if m.there, err = dial(ctx, l.server); err != nil {
		return err
	}
	defer m.there.Close()
	if err := note(ctx, m.there, l.Rows); err != nil {
		return fmt.Errorf("record which tables are to be filled: %w", err)
	}
	if err = m.tables(ctx); err != nil {
		return errors.Join(err, m.undo(context.WithoutCancel(ctx)))
	}
	for _, r := range m.Routines {
		if err := copies.MakeRoutine(ctx, m.first, m.there, r); err != nil {
			return fmt.Errorf("make %s: %w\nwhat was made there before stays: make it by hand, as SHOW CREATE %s prints it on the first shard, and repeat the command", r, err, r.Kind)
		}
	}
	for _, name := range m.Views {
		if err := copies.MakeView(ctx, m.first, m.there, name); err != nil {
			return fmt.Errorf("make view %s: %w\nwhat was made there before stays: make the view by hand, as SHOW CREATE VIEW prints it on the first shard, and repeat the command", name, err)
		}
	}
	return nil
}

func (m *making) tables(ctx context.Context) error {
	for _, name := range m.Databases {
		if err := m.database(ctx, name); err != nil {
			return fmt.Errorf("make database %s: %w", name, err)
		}
	}
	for _, name := range m.Tables {
		if err := m.table(ctx, name); err != nil {
			return fmt.Errorf("make table %s: %w", name, err)
		}
	}
	return nil
}

// undo drops the created objects in reverse order.
func (m *making) undo(ctx context.Context) error {
	var failed []string
	for i := len(m.made) - 1; i >= 0; i-- {
		if _, err := m.there.Exec(ctx, m.made[i]); err != nil {
			failed = append(failed, m.made[i])
		}
	}
	switch {
	case failed != nil:
		return fmt.Errorf("what was made there could not all be undone: %s; the next locus apply takes it as it is", strings.Join(failed, "; "))
	case len(m.Databases) > 0:
		return errors.New("tables that were made there are dropped again; databases stay")
	}
	return nil
}

// told returns the column that has the text in the answer to a SHOW CREATE statement.
func told(ctx context.Context, c *link.Conn, query string) (string, error) {
	rows, err := c.Query(ctx, query)
	if err == nil && (len(rows) != 1 || len(rows[0]) < 2) {
		err = errors.New("the first shard doesn't show its definition")
	}
	if err != nil {
		return "", err
	}
	return string(rows[0][1]), nil
}

func (m *making) database(ctx context.Context, name string) error {
	text, err := told(ctx, m.first, "SHOW CREATE DATABASE IF NOT EXISTS "+link.Name(name))
	if err == nil {
		_, err = m.there.Exec(ctx, text)
	}
	return err
}

// table creates a table with the first shard's own definition, including columns that proxies hide. Its foreign
// keys may name tables that are created later.
func (m *making) table(ctx context.Context, name catalog.TableName) error {
	text, err := told(ctx, m.first, "SHOW CREATE TABLE "+spelled(name))
	if err != nil {
		return err
	}
	body, ok := strings.CutPrefix(text, "CREATE TABLE "+link.Name(name.Name)+" ")
	if !ok {
		return errors.New("it is not a table")
	}
	// References without a schema are to the table's own schema.
	if _, err := m.there.Exec(ctx, "USE "+link.Name(name.Schema)); err != nil {
		return err
	}
	if _, err = m.there.Exec(ctx, "CREATE TABLE "+spelled(name)+" "+ddl.WithoutNextNumber(body)); err == nil {
		m.made = append(m.made, "DROP TABLE "+spelled(name))
	}
	return err
}
