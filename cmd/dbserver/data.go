package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"
)

// ensureData creates the data directory, unless it exists. It appears as a whole: an interrupted initialisation
// is removed and started again.
func (i *Installation) ensureData(ctx context.Context, d *directory, templates string) error {
	data := d.file("data")
	if _, err := os.Stat(data); err == nil {
		return nil
	}
	unfinished := data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return fmt.Errorf("remove an unfinished data directory: %w", err)
	}
	if err := i.fillData(ctx, d, unfinished, templates); err != nil {
		return fmt.Errorf("new data directory: %w", err)
	}
	if i.Engine == MySQL {
		if err := nameServer(unfinished); err != nil {
			return fmt.Errorf("new data directory: %w", err)
		}
	}
	if err := os.Rename(unfinished, data); err != nil {
		return fmt.Errorf("new data directory: %w", err)
	}
	return nil
}

// nameServer sets the server's UUID. MySQL derives its own UUID from the time and from numbers that depend
// only on the second of its start. So two servers that start at once may get the same one, and would mistake
// each other's transactions for their own.
func nameServer(data string) error {
	text := "[auto]\nserver-uuid=" + uuid.NewString() + "\n"
	return os.WriteFile(filepath.Join(data, "auto.cnf"), []byte(text), 0o600)
}

func (i *Installation) fillData(ctx context.Context, d *directory, data, templates string) error {
	if templates == "" {
		return i.initialise(ctx, d, data)
	}
	template, err := i.ensureTemplate(ctx, templates)
	if err != nil {
		return err
	}
	return copyData(data, template)
}

// initialise creates a data directory in which root can log in through the socket without a password. No other
// account can log in.
func (i *Installation) initialise(ctx context.Context, d *directory, data string) error {
	if i.Engine == MySQL {
		return i.initialiseMySQL(ctx, d, data)
	}
	return i.initialiseMariaDB(ctx, d, data)
}

func (i *Installation) initialiseMySQL(ctx context.Context, d *directory, data string) error {
	cmd := i.command(append(i.common(d, data), "--initialize-insecure", "--auto-generate-certs=OFF")...)
	return runToEnd(ctx, d, cmd)
}

// initialiseMariaDB also drops the other accounts that MariaDB's script creates: an anonymous one, which would
// match the logins of accounts for %, and root accounts that can log in by TCP without a password.
func (i *Installation) initialiseMariaDB(ctx context.Context, d *directory, data string) error {
	if err := installable(d.path); err != nil {
		return err
	}
	line := append([]string{i.installer, "--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"},
		i.common(d, data)...)
	if err := runToEnd(ctx, d, plainCommand(line)); err != nil {
		return err
	}
	p, err := i.launch(ctx, d, append(i.common(d, data), "--skip-networking"))
	if err != nil {
		return err
	}
	if err := keepRootAlone(ctx, d.socket); err != nil {
		return errors.Join(err, p.kill())
	}
	if err := p.signal(syscall.SIGTERM); err != nil {
		return errors.Join(err, p.kill())
	}
	select {
	case <-p.exited:
		return p.err
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("shut down the new server: %w", context.Cause(ctx)), p.kill())
	}
}

// installable returns an error for a directory that MariaDB's script can't use, because it does not quote
// paths.
func installable(dir string) error {
	if strings.ContainsAny(dir, " \t\n") {
		return fmt.Errorf("mariadb-install-db can't use a path with a blank, %q: choose another directory (locus demo --data DIRECTORY)", dir)
	}
	return nil
}
