package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The linker sets both for releases. Other builds use the revision that Go records about the repository.
var version, revision string

func versionCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := buildVersion()
			return in.show(v, func(w io.Writer) {
				fmt.Fprintf(w, "locus %s (%s, %s)\n", v.Version, v.Revision, v.Go)
			})
		},
	}
}

type versionView struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

func buildVersion() versionView {
	v := versionView{Version: version, Revision: cmp.Or(revision, "revision unknown"), Go: runtime.Version()}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}
