package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// release is one version, built from one commit. All paths are absolute.
type release struct {
	version string // with its v
	commit  string
	date    time.Time // of every file
	tree    string
	out     string
	work    string // what is not published
	targets []string
}

// A version is a semantic one. Build metadata would be lost in the names of packages.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

// architectures maps those of Go to those of rpm.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

func newRelease(ctx context.Context, tree, out, version, work string, targets []string) (*release, error) {
	if !semantic.MatchString(version) {
		return nil, fmt.Errorf("version %q is not a semantic one; name a version such as v0.1.0 or v0.2.0-rc.1", version)
	}
	for _, arch := range targets {
		if architectures[arch] == "" {
			return nil, fmt.Errorf("architecture %q is unknown; name amd64 or arm64", arch)
		}
	}
	r := &release{version: version, work: work, targets: slices.Sorted(slices.Values(targets))}
	var err error
	if r.tree, err = filepath.Abs(tree); err != nil {
		return nil, err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	return r, errors.Join(r.readCommit(ctx), r.prepare())
}

// readCommit finds the commit and its date, and refuses a tree that differs from it.
func (r *release) readCommit(ctx context.Context) (err error) {
	if r.commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the tree differs from commit %.12s; commit or remove these changes:\n%s", r.commit, changed)
	}
	if tagged, err := r.git(ctx, "rev-parse", "--quiet", "--verify", "refs/tags/"+r.version+"^{commit}"); err == nil && tagged != r.commit {
		return fmt.Errorf("tag %s is at commit %.12s, and the tree at %.12s; check out the tag, or name another version", r.version, tagged, r.commit)
	}
	at := os.Getenv("SOURCE_DATE_EPOCH")
	if at == "" {
		if at, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r.date = time.Unix(seconds, 0).UTC()
	return nil
}

// prepare creates the directory for the files. A file of another version in it would get into the checksums.
func (r *release) prepare() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("directory %s is not empty; remove it, or name another one", r.out)
	}
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", append([]string{"-C", r.tree}, args...)...))
}

// output returns what a command prints, without the last line's end.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// number returns the version without its v, as packages and charts write it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// path returns the path of a file that is published.
func (r *release) path(name string) string { return filepath.Join(r.out, name) }

// binary returns the path of an architecture's binary.
func (r *release) binary(arch string) string { return filepath.Join(r.work, "locus-linux-"+arch) }

// source returns the path of a file of the repository.
func (r *release) source(path string) string { return filepath.Join(r.tree, filepath.FromSlash(path)) }
