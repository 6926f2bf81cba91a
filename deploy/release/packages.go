package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// What the packages state about themselves. The domain is one that never exists: problems are reported as SECURITY.md and the repository say.
const (
	maintainer  = "The locus authors <authors@locus.invalid>"
	summary     = "Sharding-aware MySQL proxy"
	license     = "Apache-2.0"
	revision    = "1" // of the package, with the same version of the product
	description = summary + `
locus serves several MySQL or MariaDB servers as one. It places rows by the
owner of a table, generates IDs that contain the place, and moves rows between
servers while clients read and write them.`
)

// The directories of documents and of examples.
const (
	documents = "/usr/share/doc/locus"
	examples  = documents + "/examples"
)

func (r *release) writeDeb(arch string) error {
	info := r.info(arch, "deb")
	info.Deb = nfpm.Deb{Predepends: []string{"passwd"}, Compression: "zstd"}
	info.Recommends = []string{"ca-certificates"}
	return r.pack(info, "deb", "locus_"+debianVersion(r.number())+"_"+arch+".deb")
}

func (r *release) writeRPM(arch string) error {
	info := r.info(arch, "rpm")
	info.Depends = []string{"shadow-utils"}
	info.Recommends = []string{"ca-certificates"}
	info.RPM = nfpm.RPM{BuildHost: "locus.invalid", Summary: summary, Compression: "zstd", Packager: maintainer}
	return r.pack(info, "rpm", "locus-"+strings.Replace(r.number(), "-", "~", 1)+"-"+revision+"."+architectures[arch]+".rpm")
}

func (r *release) pack(info *nfpm.Info, format, name string) error {
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	f, err := os.Create(r.path(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := packager.Package(info, f); err != nil {
		return err
	}
	return f.Close()
}

// info returns what both formats have in common.
func (r *release) info(arch, format string) *nfpm.Info {
	scripts := r.source("deploy/release/scripts")
	contents := append(r.contents(arch), r.contentsOf(format)...)
	return nfpm.WithDefaults(&nfpm.Info{
		Name: "locus", Arch: arch, Platform: "linux", Version: r.number(), Release: revision,
		Section: "database", Priority: "optional", Maintainer: maintainer, Description: description, License: license,
		MTime: r.date, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts: nfpm.Scripts{
				PreInstall: filepath.Join(scripts, "preinstall.sh"), PostInstall: filepath.Join(scripts, "postinstall.sh"),
				PreRemove: filepath.Join(scripts, "preremove.sh"), PostRemove: filepath.Join(scripts, "postremove.sh"),
			},
		},
	})
}

// contents returns the files that both formats install at the same paths.
func (r *release) contents(arch string) files.Contents {
	all := files.Contents{
		r.directory("/etc/locus", "locus", 0o750),
		r.directory("/etc/locus/secrets", "locus", 0o750),
		r.typed(r.file(r.source("deploy/one-machine/locus.yaml"), "/etc/locus/locus.yaml", "locus", 0o640), files.TypeConfigNoReplace),
		r.file(r.binary(arch), "/usr/bin/locus", "root", 0o755),
		r.plain(r.source("deploy/systemd/locus.service"), "/usr/lib/systemd/system/locus.service"),
		r.plain(r.made(path.Join(completions, "locus")), "/usr/share/bash-completion/completions/locus"),
		r.plain(r.made(path.Join(completions, "locus.fish")), "/usr/share/fish/vendor_completions.d/locus.fish"),
		r.directory(documents, "root", 0o755),
	}
	for _, pattern := range []string{"one-machine", "three-proxies", "prometheus", "grafana"} {
		for _, file := range r.matches(r.source("deploy/" + pattern + "/*")) {
			mode := os.FileMode(0o644)
			if strings.HasSuffix(file, ".sh") {
				mode = 0o755
			}
			all = append(all, r.file(file, path.Join(examples, pattern, filepath.Base(file)), "root", mode))
		}
	}
	for _, page := range r.matches(filepath.Join(r.made(manPages), "*.gz")) {
		all = append(all, r.plain(page, "/usr/share/man/man1/"+filepath.Base(page)))
	}
	return all
}

// contentsOf returns the files that a format's distributions expect in different places.
func (r *release) contentsOf(format string) files.Contents {
	if format == "deb" {
		return files.Contents{
			r.plain(r.made("copyright"), documents+"/copyright"),
			r.plain(r.made("changelog.gz"), documents+"/changelog.gz"),
			r.plain(r.made("changelog.Debian.gz"), documents+"/changelog.Debian.gz"),
			r.plain(r.made(path.Join(completions, "_locus")), "/usr/share/zsh/vendor-completions/_locus"),
		}
	}
	return files.Contents{
		r.typed(r.plain(r.source("LICENSE"), "/usr/share/licenses/locus/LICENSE"), files.TypeRPMLicense),
		r.typed(r.plain(r.made(notices), "/usr/share/licenses/locus/"+notices), files.TypeRPMLicense),
		r.typed(r.plain(r.made("changelog.gz"), documents+"/changelog.gz"), files.TypeRPMDoc),
		r.plain(r.made(path.Join(completions, "_locus")), "/usr/share/zsh/site-functions/_locus"),
	}
}

// matches returns the files of a pattern, which is one of this program.
func (r *release) matches(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil {
		panic(err)
	}
	return found
}

func (r *release) file(source, destination, group string, mode os.FileMode) *files.Content {
	return &files.Content{Source: source, Destination: destination, FileInfo: &files.ContentFileInfo{Owner: "root", Group: group, Mode: mode, MTime: r.date}}
}

func (r *release) plain(source, destination string) *files.Content {
	return r.file(source, destination, "root", 0o644)
}

func (r *release) directory(destination, group string, mode os.FileMode) *files.Content {
	return r.typed(r.file("", destination, group, mode), files.TypeDir)
}

func (r *release) typed(c *files.Content, kind string) *files.Content {
	c.Type = kind
	return c
}
