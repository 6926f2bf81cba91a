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

// Installation is a database server as it is installed on this machine. It is
// immutable, and any number of servers can be started from it.
type Installation struct {
	Engine  Engine
	Version string // as the server says it: 10.11.19-MariaDB-0+deb12u1, 9.7.4-2

	server    []string // the command that runs the server, and what always comes first
	installer string   // MariaDB alone: the script that makes a data directory
}

// Path is where the server's program is.
func (i *Installation) Path() string {
	return i.server[len(i.server)-1]
}

func (i *Installation) String() string {
	return fmt.Sprintf("%s %s at %s", i.Engine, i.Version, i.Path())
}

// command is the server's command line with the given arguments. No option file
// of the machine is read.
func (i *Installation) command(args ...string) *exec.Cmd {
	line := append(append([]string{}, i.server...), "--no-defaults")
	line = append(line, i.resources()...)
	return plainCommand(append(line, args...))
}

// resources tells a server of a Debian tree where its own files are, since it
// was built to find them below /usr.
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

// asUser is what a server needs to hear when it is run by root, as in a
// container: without it both refuse to start.
func asUser() []string {
	if os.Geteuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

// plainCommand is a command without what the environment may say to a database
// server behind our back: another systemd unit's socket, another client's
// settings. It dies with the thread that starts it.
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

// askVersion runs a server's --version and says what it is.
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
