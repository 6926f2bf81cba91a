package copies

import (
	"context"
	"errors"

	"locus/migrate/link"
	"locus/router/catalog"
)

// MakeRoutine creates a procedure or function with the first server's definer, sql_mode and character set.
// Afterwards the connections use utf8mb4 again.
func MakeRoutine(ctx context.Context, first, there *link.Conn, r Routine) error {
	m := making{first, there}
	rows, err := m.shown(ctx, r.Kind, r.TableName, 2)
	if err != nil {
		return err
	}
	return m.speaking(ctx, string(rows[3]), string(rows[4]), func() (err error) {
		if rows, err = m.shown(ctx, r.Kind, r.TableName, 2); err != nil {
			return err
		}
		mode, err := m.there.Query(ctx, "SELECT @@SESSION.sql_mode")
		if err != nil {
			return err
		}
		defer func() {
			_, reset := m.there.Exec(context.WithoutCancel(ctx), "SET SESSION sql_mode = "+link.Text(string(mode[0][0])))
			err = errors.Join(err, reset)
		}()
		for _, text := range []string{"USE " + link.Name(r.Schema), "SET SESSION sql_mode = " + link.Text(string(rows[1])), string(rows[2])} {
			if _, err := m.there.Exec(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// MakeView creates a view with the first server's definer, SQL security and character set. Afterwards the
// connections use utf8mb4 again.
func MakeView(ctx context.Context, first, there *link.Conn, name catalog.TableName) error {
	m := making{first, there}
	rows, err := m.shown(ctx, "VIEW", name, 1)
	if err != nil {
		return err
	}
	return m.speaking(ctx, string(rows[2]), string(rows[3]), func() error {
		if rows, err = m.shown(ctx, "VIEW", name, 1); err == nil {
			_, err = m.there.Exec(ctx, string(rows[1]))
		}
		return err
	})
}

// making holds the connections for copying a definition from the first server to another.
type making struct{ first, there *link.Conn }

// shown returns the result of SHOW CREATE. One column has the text, and the next two its character set and
// collation.
func (m making) shown(ctx context.Context, kind string, name catalog.TableName, text int) ([][]byte, error) {
	rows, err := m.first.Query(ctx, "SHOW CREATE "+kind+" "+link.Name(name.Schema)+"."+link.Name(name.Name))
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0]) < text+3 || rows[0][text] == nil {
		return nil, errors.New("the first shard doesn't show its definition")
	}
	return rows[0], nil
}

// speaking sets the character set of both connections while it calls do.
func (m making) speaking(ctx context.Context, charset, collation string, do func() error) (err error) {
	both := []*link.Conn{m.first, m.there}
	defer func() {
		for _, c := range both {
			_, reset := c.Exec(context.WithoutCancel(ctx), "SET NAMES utf8mb4")
			err = errors.Join(err, reset)
		}
	}()
	for _, c := range both {
		if _, err := c.Exec(ctx, "SET NAMES "+link.Text(charset)); err != nil {
			return err
		}
	}
	if _, err = m.there.Exec(ctx, "SET SESSION collation_connection = "+link.Text(collation)); err != nil {
		return err
	}
	return do()
}
