//go:build servers

package main

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestWhatChangesTheApplicationsExperienceAsks: each command either asks, by calling confirm, or is listed here
// with the reason.
func TestWhatChangesTheApplicationsExperienceAsks(t *testing.T) {
	const (
		reads    = "reads only"
		file     = "does what a file or its flags declare, which --dry-run shows"
		prepares = "nothing that is served changes"
		local    = "concerns this machine alone"
	)
	unasked := map[string]string{
		"locus config check": local, "locus config reference": local, "locus man": local, "locus version": local, "locus demo": local, "locus serve": local,
		"locus completion bash": local, "locus completion zsh": local, "locus completion fish": local, "locus completion powershell": local,
		"locus advise": reads, "locus doctor": reads, "locus events": reads, "locus sessions list": reads, "locus explain": reads, "locus hot": reads, "locus status": reads, "locus top": reads, "locus get": reads, "locus diff": reads,
		"locus findings acknowledged": reads, "locus findings acknowledge": prepares, "locus findings withdraw": prepares,
		"locus documents list": reads, "locus routes show": reads, "locus routes history": reads, "locus routes diff": reads, "locus shard list": reads,
		"locus table list": reads, "locus table show": reads, "locus user list": reads, "locus jobs": reads, "locus watch": reads, "locus wait": reads,
		"locus generators": reads, "locus proxies list": reads, "locus restore": reads, "locus gene": reads, "locus id decode": reads, "locus id encode": reads,
		"locus id next": reads, "locus keys create": local, "locus keys list": reads, "locus keys status": reads,
		"locus apply": file, "locus shard add": file, "locus table add": file, "locus user add": file, "locus user set": file, "locus user passwd": "asks for the password",
		"locus split": prepares, "locus merge": prepares, "locus import": prepares, "locus mirror": prepares, "locus throttle": prepares, "locus pause": prepares,
		"locus keys rotate": prepares, "locus keys use": prepares, "locus backup": "writes wait for some milliseconds, and backups run at night",
	}
	root := newRoot(&invocation{getenv: func(string) string { return "" }})
	root.InitDefaultCompletionCmd()
	var asking []string
	for _, c := range leaves(root) {
		path := c.CommandPath()
		asks := c.Flags().Lookup("yes") != nil
		switch reason := unasked[path]; {
		case asks && reason != "":
			t.Errorf("%s asks, and is listed as one that doesn't", path)
		case !asks && reason == "":
			t.Errorf("%s doesn't ask: let it, or list the reason", path)
		case asks:
			asking = append(asking, path)
		}
		delete(unasked, path)
	}
	if len(unasked) > 0 || len(asking) < 15 {
		t.Errorf("%v are no commands; %q ask", slices.Collect(maps.Keys(unasked)), asking)
	}
}

// TestConfirm: confirm asks only on a terminal.
func TestConfirm(t *testing.T) {
	for name, test := range map[string]struct {
		terminal, yes bool
		typed, want   string // want is a part of the error; empty for none
	}{
		"yes":                 {true, false, "y\n", ""},
		"a long yes":          {true, false, " YES \n", ""},
		"no":                  {true, false, "n\n", "nothing was changed"},
		"nothing":             {true, false, "\n", "nothing was changed"},
		"another word":        {true, false, "yeah\n", "nothing was changed"},
		"the end of the file": {true, false, "", "nothing was changed: answer y, or add --yes"},
		"no terminal":         {false, false, "y\n", "add --yes, since standard input is not a terminal on which to ask: Shard s0: sure?"},
		"no terminal, --yes":  {false, true, "", ""},
		"--yes":               {true, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var prompt bytes.Buffer
			in := &invocation{stdin: strings.NewReader(test.typed), stderr: &prompt, yes: test.yes, terminal: func(any) bool { return test.terminal }}
			err := in.confirm("Shard %s: sure?", "s0")
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if asked := prompt.String() == "Shard s0: sure? [y/N] "; asked != (test.terminal && !test.yes) {
				t.Errorf("the prompt is %q", prompt.String())
			}
		})
	}
}
