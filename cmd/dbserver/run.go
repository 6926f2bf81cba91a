package dbserver

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
)

// runToEnd runs a program of an installation and waits for its end. Its output goes to the server's log.
func runToEnd(ctx context.Context, d *directory, cmd *exec.Cmd) error {
	log, err := openLog(d.file("server.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Dir = d.path
	cmd.Stdout, cmd.Stderr = log.File, log.File
	// A process group of its own, so that child processes of a script end with it.
	cmd.SysProcAttr.Setpgid = true
	p, err := spawn(cmd)
	if err != nil {
		return err
	}
	select {
	case <-p.exited:
		if p.err != nil {
			return log.explain(fmt.Errorf("run %s: %w", cmd.Path, p.err))
		}
		return nil
	case <-ctx.Done():
		killErr := syscall.Kill(-p.pid(), syscall.SIGKILL)
		return errors.Join(fmt.Errorf("run %s: %w", cmd.Path, context.Cause(ctx)), killErr, p.kill())
	}
}
