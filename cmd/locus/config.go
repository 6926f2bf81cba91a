package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/config"
	"locus/idgen/cipher"
)

func configCommand(in *invocation) *cobra.Command {
	group := groupCommand("config", "Show and check the configuration of a process")
	group.AddCommand(&cobra.Command{
		Use:   "check",
		Short: "Check a configuration file and the files that it names",
		Example: `  locus config check -c locus.yaml
  LOCUS_CONFIG=locus.yaml locus config check`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return in.checkConfig() },
	}, &cobra.Command{
		Use:   "reference",
		Short: "Print a locus.yaml with every field, its default and its meaning",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(in.stdout, config.Reference())
			return err
		},
	})
	return group
}

func (in *invocation) checkConfig() error {
	if in.configFile == "" {
		return misused("name the file: -c locus.yaml")
	}
	c, err := in.configuration()
	if err != nil {
		return err
	}
	files := c.Examine(in.now())
	problems := []error{files.Unusable, files.Expired}
	if c.KeyRing != "" && files.Unusable == nil {
		_, err := cipher.Load(c.KeyRing)
		problems = append(problems, err)
		if err := cipher.CheckMode(c.KeyRing); err != nil {
			files.Warnings = append(files.Warnings, err.Error())
		}
	}
	for _, w := range files.Warnings {
		fmt.Fprintln(in.stderr, "warning:", w)
	}
	if err := errors.Join(problems...); err != nil {
		return prefixed(in.configFile, err)
	}
	v := checked{in.configFile, c.Cluster, c.Etcd.Endpoints, config.Reloadable()}
	return in.show(v, func(w io.Writer) {
		fmt.Fprintf(w, "%s is right: cluster %s, etcd at %v\n", v.File, v.Cluster, v.Etcd)
		fmt.Fprintf(w, "applied at SIGHUP: %s; all others apply from the next start\n", strings.Join(v.Reloadable, ", "))
	})
}

// checked is the output for a valid configuration.
type checked struct {
	File       string   `json:"file"`
	Cluster    string   `json:"cluster"`
	Etcd       []string `json:"etcd"`
	Reloadable []string `json:"taken_over_at_sighup"`
}
