package dbserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// Installation is a database server that is installed on this machine. It is immutable, and any number of
// servers can be started from it.
type Installation struct {
	Engine  Engine
	Version string // the version that the server reports, such as 10.11.19-MariaDB-0+deb12u1 or 9.7.4-2

	server    []string // the command that runs the server, with its fixed first arguments
	installer string   // MariaDB only: the script that creates a data directory
}

// Path returns the path of the server's program.
func (i *Installation) Path() string {
	return i.server[len(i.server)-1]
}

func (i *Installation) String() string {
	return fmt.Sprintf("%s %s at %s", i.Engine, i.Version, i.Path())
}

// command returns the server's command line with the given arguments. The server reads no option file of the
// machine.
func (i *Installation) command(args ...string) *exec.Cmd {
	line := append(append([]string{}, i.server...), "--no-defaults")
	line = append(line, i.resources()...)
	return plainCommand(append(line, args...))
}

// resources returns options with the paths of a Debian tree's files, because the server was built to find them
// below /usr.
func (i *Installation) resources() []string {
	usr, isTree := strings.CutSuffix(i.Path(), "/sbin/mysqld")
	if len(i.server) == 1 || !isTree {
		return nil
	}
	return []string{
		"--basedir=" + usr,
		"--lc-messages-dir=" + usr + "/share/mysql",
		"--character-sets-dir=" + usr + "/share/mysql/charsets",
		"--plugin-dir=" + usr + "/lib/mysql/plugin",
	}
}

// asUser returns the option that both servers require when root runs them, as in a container.
func asUser() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

// plainCommand returns a command without environment variables that could configure a database server: another
// systemd unit's socket, or another client's settings. The command dies with the thread that starts it.
func plainCommand(line []string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if name != "NOTIFY_SOCKET" && !strings.HasPrefix(name, "MYSQL") && !strings.HasPrefix(name, "MARIADB") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

var versionWord = regexp.MustCompile(`\bVer (\S+)`)

// askVersion runs a server's --version, and returns its engine and version.
func askVersion(ctx context.Context, command []string) (Engine, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "--no-defaults", "--version")...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("%s --version: %w: %s", command[len(command)-1], err, strings.TrimSpace(string(said)))
	}
	found := versionWord.FindSubmatch(said)
	if found == nil {
		return "", "", fmt.Errorf("%s --version: no version in %q", command[len(command)-1], said)
	}
	version := string(found[1])
	if strings.Contains(version, "MariaDB") {
		return MariaDB, version, nil
	}
	return MySQL, version, nil
}
