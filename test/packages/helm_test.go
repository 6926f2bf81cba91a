package packages

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
)

// asHelm is the variable by which the test's own binary runs as helm: by Helm's library, with the commands that the documents use, and without
// a cluster. An install prints what would be installed.
const asHelm = "LOCUS_TEST_AS_HELM"

func helm(args []string, out io.Writer) error {
	if len(args) < 3 {
		return fmt.Errorf("helm %q is unknown here", args)
	}
	switch args[0] + " " + args[1] {
	case "show values":
		c, err := loader.Load(args[2])
		if err != nil {
			return err
		}
		for _, f := range c.Raw {
			if f.Name == chartutil.ValuesfileName {
				_, err = out.Write(f.Data)
			}
		}
		return err
	}
	if args[0] != "install" {
		return fmt.Errorf("helm %s is unknown here", args[0])
	}
	return install(args[1], args[2], args[3:], out)
}

func install(name, path string, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("helm install", flag.ContinueOnError)
	namespace := flags.String("namespace", "default", "")
	file := flags.String("values", "", "")
	set := flags.String("set", "", "")
	if err := errors.Join(flags.Parse(args)); err != nil {
		return err
	}
	c, err := loader.Load(path)
	if err != nil {
		return err
	}
	values, err := chartutil.ReadValuesFile(*file)
	if err != nil {
		return err
	}
	if err := strvals.ParseInto(*set, values); err != nil {
		return err
	}
	return render(c, values, chartutil.ReleaseOptions{Name: name, Namespace: *namespace, Revision: 1, IsInstall: true}, out)
}

func render(c *chart.Chart, values chartutil.Values, options chartutil.ReleaseOptions, out io.Writer) error {
	all, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return err
	}
	texts, err := engine.Render(c, all)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(out, "# %s\n%s\n", name, texts[name])
	}
	return nil
}

// runAsHelm runs the process as helm if it was started as that.
func runAsHelm() {
	if os.Getenv(asHelm) == "" {
		return
	}
	if err := helm(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
