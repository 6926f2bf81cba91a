package packages

import (
	"path/filepath"
	"strings"
	"testing"
)

// Debian is a machine with systemd, or one without it, such as a container.
func TestTheDebianPackage(t *testing.T) {
	for kind, running := range map[string]bool{"bare": false, "systemd": true} {
		t.Run(kind, func(t *testing.T) {
			r := newRoot(t, kind)
			if running {
				r.pretend()
			}
			r.bring(deb(t, released(t, first)), deb(t, released(t, upgrade)))
			installed(t, r, running)
			upgraded(t, r, running)
			removed(t, r, running)
			purged(t, r)
		})
	}
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nand not\n%s", what, got, want)
	}
}

// when returns a text if a condition holds.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

func installed(t *testing.T, r root, running bool) {
	t.Helper()
	r.run("apt-get install --yes ./locus_" + version + "-1_*.deb")
	expect(t, "installed", r.status("/etc/locus", "/etc/locus/locus.yaml", "/etc/locus/secrets", "/usr/bin/locus"), strings.Join([]string{
		"drwxr-x--- root:locus /etc/locus", "-rw-r----- root:locus /etc/locus/locus.yaml", "drwxr-x--- root:locus /etc/locus/secrets", "-rwxr-xr-x root:root /usr/bin/locus",
	}, "\n"))
	if user := r.run("getent passwd locus"); !strings.HasSuffix(user, ":/var/lib/locus:/usr/sbin/nologin") {
		t.Errorf("the user is %q", user)
	}
	if printed := r.run("locus version"); !strings.HasPrefix(printed, "locus v"+version) {
		t.Errorf("locus version prints %q", printed)
	}
	expect(t, "systemctl, by the installation", r.notes(), when(running, "daemon-reload"))
	expect(t, "dpkg --verify", r.run("dpkg --verify locus"), "")
	if r.has("/etc/systemd/system/multi-user.target.wants/locus.service") {
		t.Error("the installation enables the service")
	}
}

func upgraded(t *testing.T, r root, running bool) {
	t.Helper()
	if running {
		r.run("systemctl enable --now locus")
		r.notes()
	}
	r.edit("/etc/locus/locus.yaml", "127.0.0.1:2379", "127.0.0.1:12379")
	r.run(`echo key >/etc/locus/keys.yaml; chmod 600 /etc/locus/locus.yaml; install -d -o locus -m 700 /var/lib/locus; touch /var/lib/locus/cluster.json; id locus >before`)
	r.run("apt-get install --yes -o Dpkg::Options::=--force-confold ./locus_" + later + "-1_*.deb")
	if printed := r.run("locus version"); !strings.HasPrefix(printed, "locus v"+later) {
		t.Errorf("locus version prints %q", printed)
	}
	if text := r.read("/etc/locus/locus.yaml"); !strings.Contains(text, "127.0.0.1:12379") || strings.Contains(text, "a later version") {
		t.Errorf("after the upgrade the configuration is\n%s", text)
	}
	if text := r.read("/etc/locus/locus.yaml.dpkg-dist"); !strings.Contains(text, "a later version") {
		t.Errorf("the later example is\n%s", text)
	}
	expect(t, "the configuration's mode", r.status("/etc/locus/locus.yaml"), "-rw------- root:locus /etc/locus/locus.yaml")
	expect(t, "the user", r.run("id locus"), strings.TrimSpace(r.read("/root/before")))
	expect(t, "systemctl, by the upgrade", r.notes(), when(running, "daemon-reload; try-restart locus.service"))
	if running {
		expect(t, "the service", r.run("systemctl is-enabled locus"), "enabled")
		r.write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n")
		r.notes()
		r.run("dpkg --install ./locus_" + later + "-1_*.deb")
		expect(t, "systemctl, where a policy forbids restarts", r.notes(), "daemon-reload")
	}
}

func removed(t *testing.T, r root, running bool) {
	t.Helper()
	r.run("apt-get remove --yes locus")
	expect(t, "systemctl, by the removal", r.notes(), when(running, "--no-reload disable --now locus.service; daemon-reload"))
	for name, stays := range map[string]bool{
		"/usr/bin/locus": false, "/usr/lib/systemd/system/locus.service": false, "/usr/share/doc/locus": false,
		"/etc/systemd/system/multi-user.target.wants/locus.service": false,
		"/etc/locus/locus.yaml": true, "/etc/locus/keys.yaml": true, "/var/lib/locus/cluster.json": true,
	} {
		if r.has(name) != stays {
			t.Errorf("after the removal, %s exists: %v", name, !stays)
		}
	}
	if _, err := r.try("getent passwd locus"); err != nil {
		t.Errorf("the user is gone, and files may be its own: %v", err)
	}
}

func purged(t *testing.T, r root) {
	t.Helper()
	r.run("apt-get purge --yes locus")
	for name, stays := range map[string]bool{"/etc/locus/locus.yaml": false, "/var/lib/locus": false, "/etc/locus/keys.yaml": true} {
		if r.has(name) != stays {
			t.Errorf("after the purge, %s exists: %v", name, !stays)
		}
	}
	expect(t, "dpkg -s", r.run("dpkg-query --show --showformat '${db:Status-Status}' locus 2>/dev/null || echo unknown"), "unknown")
	// The same machine can have it again, with the user that it has.
	r.run("apt-get install --yes ./locus_" + version + "-1_*.deb && locus version && apt-get purge --yes locus")
}

// The package uses an existing user and group of this name without changes.
func TestTheDebianPackageKeepsAUser(t *testing.T) {
	r := newRoot(t, "bare")
	r.bring(deb(t, released(t, first)))
	r.run("groupadd --gid 4321 locus; useradd --uid 4322 --gid locus --home-dir /srv/locus --shell /bin/bash locus; getent passwd locus >before")
	r.run("dpkg --install ./locus_*.deb")
	expect(t, "the user", r.run("getent passwd locus"), strings.TrimSpace(r.read("/root/before")))
	expect(t, "the directory", r.run("stat -c %u:%g /etc/locus"), "0:4321")
}

// An rpm is installed by Debian's rpm: the scripts get other arguments there.
func TestTheRPM(t *testing.T) {
	r := newRoot(t, "systemd")
	r.pretend()
	onto := func(args ...string) {
		t.Helper()
		run(t, "", "rpm", append([]string{"--root", r.dir, "--nodeps"}, args...)...)
	}
	onto("--upgrade", rpm(t, released(t, first)))
	expect(t, "installed", r.status("/etc/locus", "/etc/locus/locus.yaml"), "drwxr-x--- root:locus /etc/locus\n-rw-r----- root:locus /etc/locus/locus.yaml")
	if printed := r.run("locus version"); !strings.HasPrefix(printed, "locus v"+version) {
		t.Errorf("locus version prints %q", printed)
	}
	expect(t, "systemctl, by the installation", r.notes(), "daemon-reload")
	r.run("systemctl enable --now locus; echo key >/etc/locus/keys.yaml; mkdir /var/lib/locus")
	r.notes()
	r.edit("/etc/locus/locus.yaml", "127.0.0.1:2379", "127.0.0.1:12379")
	onto("--upgrade", rpm(t, released(t, upgrade)))
	expect(t, "systemctl, by the upgrade", r.notes(), "daemon-reload; try-restart locus.service")
	if printed := r.run("locus version"); !strings.HasPrefix(printed, "locus v"+later) {
		t.Errorf("locus version prints %q", printed)
	}
	if text := r.read("/etc/locus/locus.yaml"); !strings.Contains(text, "127.0.0.1:12379") || !r.has("/etc/locus/locus.yaml.rpmnew") {
		t.Errorf("after the upgrade the configuration is\n%s", text)
	}
	expect(t, "the service", r.run("systemctl is-enabled locus"), "enabled")
	r.notes()
	onto("--erase", "locus")
	expect(t, "systemctl, by the removal", r.notes(), "--no-reload disable --now locus.service; daemon-reload")
	for name, stays := range map[string]bool{
		"/usr/bin/locus": false, "/etc/systemd/system/multi-user.target.wants/locus.service": false,
		"/etc/locus/locus.yaml.rpmsave": true, "/etc/locus/keys.yaml": true, "/var/lib/locus": true,
	} {
		if r.has(name) != stays {
			t.Errorf("after the removal, %s exists: %v", name, !stays)
		}
	}
}

// A release candidate is older than its release, and newer than the release before, for both kinds of packages.
func TestVersionsAreOrdered(t *testing.T) {
	order := []string{"0.9.0-1", "1.0.0~rc.1-1", "1.0.0~rc.2-1", "1.0.0-1", "1.0.1-1"}
	for i := range order[1:] {
		run(t, "", "dpkg", "--compare-versions", order[i], "lt", order[i+1])
	}
	name := filepath.Base(deb(t, released(t, first)))
	if !strings.HasPrefix(name, "locus_"+version+"-1_") {
		t.Errorf("the package is called %s", name)
	}
}
