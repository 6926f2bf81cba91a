package packages

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"locus/test/product"
)

// unit is the section [Service] of a unit: the values of each directive.
type unit map[string][]string

// The directives that start repeats, and those that only a kernel's filter or a running systemd can apply. A new directive belongs to one of both.
var (
	repeated = strings.Fields(`User ExecStartPre ExecStart ExecReload LimitNOFILE StateDirectory StateDirectoryMode UMask NoNewPrivileges
		ProtectSystem ProtectHome PrivateTmp PrivateDevices ProtectProc ProcSubset ProtectHostname RemoveIPC CapabilityBoundingSet
		ProtectKernelTunables ProtectControlGroups TimeoutStopSec`)
	left = strings.Fields(`Type Restart RestartSec ProtectKernelModules ProtectKernelLogs ProtectClock RestrictAddressFamilies RestrictNamespaces
		RestrictRealtime RestrictSUIDSGID LockPersonality MemoryDenyWriteExecute SystemCallArchitectures SystemCallFilter SystemCallErrorNumber`)
)

// unitOf reads the unit of an installed package.
func unitOf(t *testing.T, r root) unit {
	t.Helper()
	_, section, found := strings.Cut(r.read("/usr/lib/systemd/system/locus.service"), "\n[Service]\n")
	section, _, ends := strings.Cut(section, "\n[Install]\n")
	if !found || !ends {
		t.Fatal("the unit has no section [Service], or none after it")
	}
	u := unit{}
	for line := range strings.Lines(section) {
		name, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if is && !strings.HasPrefix(name, "#") {
			u[name] = append(u[name], value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u)) {
		if !slices.Contains(repeated, name) && !slices.Contains(left, name) {
			t.Errorf("no test knows the directive %s", name)
		}
	}
	return u
}

// is returns the one value of a directive.
func (u unit) is(t *testing.T, name, value string) {
	t.Helper()
	if got := u[name]; len(got) != 1 || got[0] != value {
		t.Errorf("%s is %q; the test repeats %q", name, got, value)
	}
}

// sandbox repeats the setup of systemd before a command of the unit: the arguments are the directory of the Debian, the umask, the limit of open
// files, the user, the mode of the state directory, and a shell's script. The process stays the same one.
const sandbox = `
	root=$1
	install -d -o "$(chroot "$root" id -u "$4")" -g "$(chroot "$root" id -g "$4")" -m "$5" "$root/var/lib/locus"
	mount --bind "$root" "$root"
	mount --bind "$root/var/lib/locus" "$root/var/lib/locus"
	mount -o remount,bind,ro "$root"
	for dir in tmp var/tmp; do mount -t tmpfs -o mode=1777 tmpfs "$root/$dir"; done
	for dir in root home; do mount -t tmpfs -o mode=000 tmpfs "$root/$dir"; done
	mount -t tmpfs -o mode=755 tmpfs "$root/dev"
	for device in null zero full random urandom; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
	mount -t proc -o hidepid=invisible,subset=pid proc "$root/proc"
	hostname machine
	umask "$2"
	files=$3 most=$(ulimit -Hn)
	[ "$most" = unlimited ] || [ "$files" -le "$most" ] || files=$most # a container may not raise it
	exec prlimit --nofile="$files" chroot "$root" setpriv --reuid "$4" --regid "$4" --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin USER="$4" MAINPID="${6:-}" bash -c "exec $7"
`

// command returns the shell command that runs a command of the unit, with the process of the service for one that signals it.
func (u unit) command(t *testing.T, r root, name, mainPID string) []string {
	t.Helper()
	for directive, value := range map[string]string{
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes", "ProtectProc": "invisible", "ProcSubset": "pid",
		"StateDirectory": "locus", "CapabilityBoundingSet": "", "NoNewPrivileges": "yes", "ProtectHostname": "yes", "RemoveIPC": "yes",
	} {
		u.is(t, directive, value)
	}
	if len(u[name]) != 1 {
		t.Fatalf("%s is %q", name, u[name])
	}
	return []string{
		"unshare", "--mount", "--uts", "--ipc", "bash", "-euc", sandbox, "unit", r.dir,
		u["UMask"][0], u["LimitNOFILE"][0], u["User"][0], u["StateDirectoryMode"][0], mainPID, u[name][0],
	}
}

// prepare runs ExecStartPre.
func (u unit) prepare(t *testing.T, r root) (string, error) {
	t.Helper()
	command := u.command(t, r, "ExecStartPre", "")
	return output(exec.CommandContext(t.Context(), command[0], command[1:]...))
}

// start runs ExecStart after ExecStartPre.
func (u unit) start(t *testing.T, r root) *product.Program {
	t.Helper()
	if text, err := u.prepare(t, r); err != nil {
		t.Fatal(text, err)
	}
	p := product.NewProgram(t, t.TempDir(), "locus.service", u.command(t, r, "ExecStart", "")...)
	p.Start(t)
	return p
}

// log waits until the service has logged a text.
func log(t *testing.T, p *product.Program, wanted string) {
	t.Helper()
	product.Eventually(t, "the log has "+wanted, func() bool {
		if ended, failed := p.Ended(); ended {
			t.Fatalf("the service ended: %v", failed)
		}
		text, err := os.ReadFile(p.Log)
		return err == nil && strings.Contains(string(text), wanted)
	})
}
