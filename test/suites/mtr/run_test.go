package mtr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"locus/test/suites/stand"
)

// protocol is how a case's client speaks.
type protocol string

const (
	text     protocol = "text"
	prepared protocol = "ps"
	cursor   protocol = "cursor"
)

var protocolArgs = map[protocol][]string{text: nil, prepared: {"--ps-protocol"}, cursor: {"--ps-protocol", "--cursor-protocol"}}

// verdict is the result of a case at one end.
type verdict struct {
	stand.Outcome
	took time.Duration
	// spoilt: the servers are not fit for another case.
	spoilt bool
}

func failed(format string, args ...any) verdict {
	return verdict{Outcome: stand.Outcome{State: stand.Failed, Detail: fmt.Sprintf(format, args...)}}
}

// limit is how long a case may take; those listed take a few seconds.
const limit = 30 * time.Second

// play runs a case once, on cleaned servers. The client compares with the result
// file, or writes it with the mode "--record".
func (s suite) play(ctx context.Context, j job, at *end, result string, mode ...string) verdict {
	cleaning, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := at.clean(cleaning); err != nil {
		v := failed("%v", err)
		v.spoilt = true
		return v
	}
	v := s.client(ctx, j, at, append(mode, "--result-file="+result)...)
	if v.spoilt {
		v.spoilt = at.stop(ctx) != nil
	}
	if at.died() {
		v = failed("a server has ended; the client said: %s", v.Detail)
		v.spoilt = true
	}
	return v
}

// client runs the suite's client; the verdict is spoilt if it had to be killed.
func (s suite) client(ctx context.Context, j job, at *end, mode ...string) verdict {
	if err := prepare(at, s.dir); err != nil {
		return failed("%v", err)
	}
	host, port, err := net.SplitHostPort(at.addr)
	if err != nil {
		return failed("%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	args := slices.Concat([]string{
		"--no-defaults", "--silent", "--protocol=tcp", "--host=" + host, "--port=" + port, "--user=root", "--database=test",
		"--tmpdir=" + at.vars + "/tmp", "--logdir=" + at.vars + "/log", "--tail-lines=20",
		"--connect-timeout=10", "--max-connect-retries=3", "--character-sets-dir=/usr/share/mysql/charsets",
		"--suite-dir=" + j.home + "/", "--test-file=" + j.test,
	}, protocolArgs[j.protocol], mode)
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Dir, cmd.Env = s.dir, environment(s, j.testCase, at, host, port)
	// Processes that the client has started must end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	began := time.Now()
	said, err := cmd.CombinedOutput()
	state := state(err)
	v := verdict{Outcome: stand.Outcome{State: state, Detail: string(said)}, took: time.Since(began)}
	if ctx.Err() != nil {
		v.spoilt, v.Detail = true, fmt.Sprintf("not done after %v: %s", limit, said)
	}
	return v
}

// state reads the client's exit code.
func state(err error) stand.State {
	const skip = 62 // the case doesn't want to run on such a server
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stand.Passed
	case errors.As(err, &exit) && exit.ExitCode() == skip:
		return stand.Skipped
	default:
		return stand.Failed
	}
}

// prepare makes the case's directories afresh.
func prepare(at *end, dir string) error {
	err := os.RemoveAll(at.vars)
	for _, sub := range []string{"tmp", "log", "mysqld.1"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(at.vars, sub), 0o700))
	}
	return errors.Join(err,
		os.Symlink(filepath.Join(dir, "std_data"), filepath.Join(at.vars, "std_data")),
		os.Symlink(at.data(), filepath.Join(at.vars, "mysqld.1", "data")))
}

// environment returns the variables that the suite's own driver sets for a case.
func environment(s suite, c testCase, at *end, host, port string) []string {
	client := fmt.Sprintf(" --no-defaults --protocol=tcp --host=%s --port=%s --user=root", host, port)
	return []string{
		"PATH=" + os.Getenv("PATH"), "LD_LIBRARY_PATH=" + s.libraries, "TZ=" + timeZone, "LC_ALL=C", "LC_CTYPE=C", "LC_COLLATE=C", "UMASK=0660", "UMASK_DIR=0770",
		"USE_RUNNING_SERVER=1", "MYSQL_TEST_DIR=" + s.dir, "MYSQLTEST_VARDIR=" + at.vars, "MYSQLTEST_REAL_VARDIR=" + at.vars,
		"MYSQL_TMP_DIR=" + at.vars + "/tmp", "MASTER_MYPORT=" + port, "DEFAULT_MASTER_PORT=" + port,
		"MYSQL_CHARSETSDIR=/usr/share/mysql/charsets", "SECURE_LOAD_PATH=" + s.dir + "/std_data",
		"MTR_SUITE_DIR=" + filepath.Join(s.dir, c.home), "MTR_TEST_NAME=" + c.name, "MTR_VERSION=2", "MTR_COMBINATIONS=",
		"MYSQL=mariadb" + client, "MYSQL_DUMP=mariadb-dump" + client, "MYSQL_IMPORT=mariadb-import" + client,
		"MYSQL_SHOW=mariadb-show" + client, "MYSQLADMIN=mariadb-admin" + client, "MYSQL_CHECK=mariadb-check" + client,
		"EXE_MYSQL=mariadb",
	}
}
