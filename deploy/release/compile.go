package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
)

// compile builds a static binary. The state of the repository does not get into it: with its tags present or absent, the bytes are equal.
func (r *release) compile(ctx context.Context, system, arch, path string) error {
	variables := fmt.Sprintf("-s -w -X main.version=%s -X main.revision=%s", r.version, r.commit)
	_, err := output(r.golang(ctx, system, arch, "build", "-trimpath", "-buildvcs=false", "-ldflags", variables, "-o", path, "./cmd/locus"))
	return err
}

// golang returns a command of Go on the product's module alone, whatever the environment sets.
func (r *release) golang(ctx context.Context, system, arch string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.tree
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOEXPERIMENT=",
		"GOOS="+system, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0")
	return cmd
}

// native returns a binary that runs on this machine.
func (r *release) native(ctx context.Context) (string, error) {
	if runtime.GOOS == "linux" && slices.Contains(r.targets, runtime.GOARCH) {
		return r.binary(runtime.GOARCH), nil
	}
	path := r.binary("native")
	return path, r.compile(ctx, runtime.GOOS, runtime.GOARCH, path)
}
