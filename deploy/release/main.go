// Command release builds what a version publishes, into one directory: archives with static binaries, packages for Debian and Red Hat, bills
// of materials, the context of the image, the Helm chart, and the checksums of them all.
//
// It owns the names and the contents of these files. It never takes the time, the directory or the user of a build into them: two builds of
// one commit by one version of Go are equal byte for byte. It never uploads or signs anything.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	tree := flags.String("tree", "../..", "the `directory` of the repository")
	out := flags.String("out", "../../dist", "the `directory` for the files, which must not exist or be empty")
	version := flags.String("version", "", "the `version`, such as v0.1.0 or v0.2.0-rc.1")
	targets := flags.String("arch", "amd64,arm64", "the `architectures`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "locus-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r, err := newRelease(ctx, *tree, *out, *version, work, strings.Split(*targets, ","))
	if err != nil {
		return err
	}
	return r.build(ctx)
}

// build writes all files of the release.
func (r *release) build(ctx context.Context) error {
	for _, arch := range r.targets {
		if err := r.compile(ctx, "linux", arch, r.binary(arch)); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{r.writeDocuments, r.writeNotices, r.writeEach, r.writeImage, r.writeChart, r.writeChecksums} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writeEach writes the files of which each architecture has its own.
func (r *release) writeEach(context.Context) error {
	for _, arch := range r.targets {
		for _, write := range []func(string) error{r.writeBill, r.writeArchive, r.writeDeb, r.writeRPM} {
			if err := write(arch); err != nil {
				return fmt.Errorf("%s: %w", arch, err)
			}
		}
	}
	return nil
}
