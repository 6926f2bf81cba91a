package packages

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// unpacked extracts the archive of this machine's architecture, and returns its directory.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := "locus-v" + version + "-linux-" + runtime.GOARCH
	run(t, dir, "tar", "-xzf", filepath.Join(released(t, first), name+".tar.gz"))
	return filepath.Join(dir, name)
}

func TestTheBinaryIsStatic(t *testing.T) {
	binary := filepath.Join(unpacked(t), "locus")
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil || len(libraries) > 0 {
		t.Errorf("it needs %v (%v)", libraries, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("it needs a dynamic loader")
		}
	}
	commit, err := snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if printed := run(t, "", binary, "version"); !strings.HasPrefix(printed, "locus v"+version+" ("+commit+", go") {
		t.Errorf("locus version prints %q", printed)
	}
}

func TestChecksums(t *testing.T) {
	dir := released(t, first)
	checked := run(t, dir, "sha256sum", "--strict", "--check", "SHA256SUMS")
	if files := len(contents(t, dir)) - 1; strings.Count(checked, ": OK") != files {
		t.Errorf("of %d files, these are checked:\n%s", files, checked)
	}
}

// The bill of materials has every module that the linker recorded, and no other.
func TestTheBillOfMaterials(t *testing.T) {
	var bill struct {
		SpecVersion, SerialNumber string
		Metadata                  struct {
			Component struct {
				Name, Version string
				Hashes        []struct{ Content string }
			}
		}
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(contents(t, released(t, first))["locus-v"+version+"-linux-"+runtime.GOARCH+".cdx.json"], &bill); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(unpacked(t), "locus")
	built, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": strings.TrimPrefix(built.GoVersion, "go")}
	for _, m := range built.Deps {
		want[m.Path] = m.Version
	}
	got := map[string]string{}
	for _, c := range bill.Components {
		got[c.Name] = c.Version
		if c.PURL != "pkg:golang/"+strings.ToLower(c.Name)+"@"+c.Version {
			t.Errorf("%s has the URL %s", c.Name, c.PURL)
		}
	}
	if !maps.Equal(got, want) || len(got) < 50 {
		t.Errorf("the bill has %v\nthe binary %v", got, want)
	}
	product := bill.Metadata.Component
	if product.Name != "locus" || product.Version != "v"+version || product.Hashes[0].Content != sum(t, binary) {
		t.Errorf("the bill is of %+v", product)
	}
}

func sum(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// file is an entry of a package: its mode and owners as ls prints them, and the checksum of its content.
type file struct{ mode, owner, sum string }

// ofDeb lists a Debian package.
func ofDeb(t *testing.T, path string) map[string]file {
	t.Helper()
	dir := t.TempDir()
	run(t, "", "dpkg-deb", "--extract", path, dir)
	all := map[string]file{}
	for line := range strings.Lines(run(t, "", "dpkg-deb", "--contents", path)) {
		fields := strings.Fields(line)
		name := strings.TrimSuffix(strings.TrimPrefix(fields[5], "."), "/")
		f := file{mode: fields[0], owner: fields[1]}
		if fields[0][0] == '-' {
			f.sum = sum(t, filepath.Join(dir, name))
		}
		all[name] = f
	}
	return all
}

// ofRPM lists an rpm.
func ofRPM(t *testing.T, path string) map[string]file {
	t.Helper()
	all := map[string]file{}
	for line := range strings.Lines(run(t, "", "rpm", "-qp", "--queryformat", `[%{FILEMODES:perms} %{FILEUSERNAME}/%{FILEGROUPNAME} %{FILENAMES} %{FILEDIGESTS}\n]`, path)) {
		fields := append(strings.Fields(line), "")
		all[fields[2]] = file{mode: fields[0], owner: fields[1], sum: fields[3]}
	}
	return all
}

// Both packages install the same files. A few are in the places where each family of distributions looks for them.
func TestBothPackagesHaveTheSameFiles(t *testing.T) {
	dir := released(t, first)
	debian, red := ofDeb(t, deb(t, dir)), ofRPM(t, rpm(t, dir))
	for _, debianAlone := range []string{"/usr/share/doc/locus/copyright", "/usr/share/doc/locus/changelog.Debian.gz"} {
		if _, there := debian[debianAlone]; !there {
			t.Errorf("the Debian package lacks %s", debianAlone)
		}
		delete(debian, debianAlone)
	}
	for _, redAlone := range []string{"/usr/share/licenses/locus/LICENSE", "/usr/share/licenses/locus/NOTICES"} {
		if _, there := red[redAlone]; !there {
			t.Errorf("the rpm lacks %s", redAlone)
		}
		delete(red, redAlone)
	}
	red["/usr/share/zsh/vendor-completions/_locus"] = red["/usr/share/zsh/site-functions/_locus"]
	delete(red, "/usr/share/zsh/site-functions/_locus")
	for name, f := range debian {
		other, there := red[name]
		if f.mode[0] == 'd' && !there && f.owner == "root/root" {
			continue // an rpm does not list directories of the system
		}
		if other != f {
			t.Errorf("%s: %+v in the Debian package, %+v in the rpm", name, f, other)
		}
	}
	for name := range red {
		if _, there := debian[name]; !there {
			t.Errorf("the Debian package lacks %s", name)
		}
	}
	if configuration := debian["/etc/locus/locus.yaml"]; configuration.mode != "-rw-r-----" || configuration.owner != "root/locus" {
		t.Errorf("the configuration is %+v", configuration)
	}
	conffiles := run(t, "", "dpkg-deb", "--info", deb(t, dir), "conffiles")
	if configurations := run(t, "", "rpm", "-qp", "--configfiles", rpm(t, dir)); strings.TrimSpace(conffiles) != configurations || configurations != "/etc/locus/locus.yaml" {
		t.Errorf("configuration files: %q in the Debian package, %q in the rpm", conffiles, configurations)
	}
}

// Every command has a man page, and shells accept the completions.
func TestManPagesAndCompletions(t *testing.T) {
	dir := t.TempDir()
	run(t, "", "dpkg-deb", "--extract", deb(t, released(t, first)), dir)
	pages, err := filepath.Glob(filepath.Join(dir, "usr/share/man/man1/*"))
	if err != nil || len(pages) < 60 {
		t.Fatalf("%d man pages (%v)", len(pages), err)
	}
	for _, page := range pages {
		if !regexp.MustCompile(`/locus(-[a-z-]+)*\.1\.gz$`).MatchString(page) {
			t.Errorf("a man page is called %s", filepath.Base(page))
		}
	}
	page := run(t, "", "gzip", "-dc", filepath.Join(dir, "usr/share/man/man1/locus-split.1.gz"))
	if !strings.Contains(page, "locus v"+version) || !strings.Contains(page, "locus split") {
		t.Errorf("the page of locus split begins %.300q", page)
	}
	run(t, "", "bash", "-n", filepath.Join(dir, "usr/share/bash-completion/completions/locus"))
	for name, begins := range map[string]string{"usr/share/zsh/vendor-completions/_locus": "#compdef locus\n", "usr/share/fish/vendor_completions.d/locus.fish": "# fish completion for locus"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.HasPrefix(text, []byte(begins)) {
			t.Errorf("%s begins %.60q (%v)", name, text, err)
		}
	}
}

// The context of the image contains the files that the Dockerfile copies, and the binary is the packages' one.
func TestTheContextOfTheImage(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "tar", "-xzf", filepath.Join(released(t, first), "locus-v"+version+"-image.tar.gz"))
	base := filepath.Join(dir, "locus-v"+version+"-image")
	text, err := os.ReadFile(filepath.Join(base, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	copies := regexp.MustCompile(`(?m)^COPY (?:--\S+ )?(\S+) \S+$`).FindAllStringSubmatch(string(text), -1)
	if len(copies) != strings.Count(string(text), "COPY ") || len(copies) < 4 {
		t.Errorf("these lines are understood: %v", copies)
	}
	for _, c := range copies {
		if _, err := os.Stat(filepath.Join(base, strings.ReplaceAll(c[1], "$TARGETARCH", runtime.GOARCH))); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Contains(text, []byte("ARG VERSION=v"+version+"\n")) || bytes.Contains(text, []byte("RUN ")) {
		t.Errorf("the Dockerfile is\n%s", text)
	}
	if sum(t, filepath.Join(base, "linux", runtime.GOARCH, "locus")) != sum(t, filepath.Join(unpacked(t), "locus")) {
		t.Error("the binaries of the image and of the archive differ")
	}
	authorities, err := os.ReadFile(filepath.Join(base, "ca-certificates.crt"))
	if err != nil || !x509.NewCertPool().AppendCertsFromPEM(authorities) || bytes.Count(authorities, []byte("BEGIN")) < 80 {
		t.Errorf("%d authorities (%v)", bytes.Count(authorities, []byte("BEGIN")), err)
	}
}

func TestTheChartOfARelease(t *testing.T) {
	chart, err := loader.LoadFile(filepath.Join(released(t, first), "locus-"+version+".tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := chart.Validate(); err != nil {
		t.Error(err)
	}
	if chart.Metadata.Version != version || chart.Metadata.AppVersion != "v"+version {
		t.Errorf("versions %s and %s", chart.Metadata.Version, chart.Metadata.AppVersion)
	}
	tree, err := loader.LoadDir("../../deploy/helm/locus")
	if err != nil {
		t.Fatal(err)
	}
	names := func(files []string) string { slices.Sort(files); return strings.Join(files, " ") }
	var packed, here []string
	for _, f := range chart.Raw {
		packed = append(packed, f.Name)
	}
	for _, f := range tree.Raw {
		here = append(here, f.Name)
	}
	if names(packed) != names(here) {
		t.Errorf("the archive has %v, the tree %v", packed, here)
	}
}
