package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// manCommand writes the pages of a separate command tree. No default value in that tree comes from the environment.
func manCommand(in *invocation, tree func(*invocation) *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIRECTORY",
		Short: "Write the man pages of all commands",
		Long: `Write a man page for each command to a directory, which is created if it is missing. The
date of the pages is SOURCE_DATE_EPOCH, if that is set, so that packages are reproducible.`,
		Example: `  locus man /usr/local/share/man/man1
  locus man man1 && man ./man1/locus-split.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := tree(&invocation{getenv: func(string) string { return "" }})
			root.InitDefaultCompletionCmd()
			asMarkdown(root, map[*pflag.Flag]bool{})
			n, err := writeMan(root, args[0], in.now)
			if err != nil {
				return fmt.Errorf("write man pages: %w", err)
			}
			return in.show(map[string]int{"pages": n}, func(w io.Writer) { fmt.Fprintf(w, "%s in %s\n", quantity(n, "man page"), args[0]) })
		},
	}
}

// markdown escapes the characters with a meaning in the pages' language. Backquotes are kept: they enclose the
// names of values.
var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`, "~", `\~`, "&", `\&`)

// asMarkdown escapes the plain texts of a command and of its subcommands.
func asMarkdown(c *cobra.Command, escaped map[*pflag.Flag]bool) {
	for _, sub := range c.Commands() {
		asMarkdown(sub, escaped)
	}
	c.InitDefaultHelpFlag()
	c.Short, c.Long = markdown.Replace(c.Short), markdown.Replace(c.Long)
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if !escaped[f] {
				escaped[f] = true
				f.Usage = markdown.Replace(f.Usage)
			}
		})
	}
}

// writeMan writes the page of a command and those of its subcommands. It returns the number of pages.
func writeMan(c *cobra.Command, dir string, now func() time.Time) (int, error) {
	count := 0
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		n, err := writeMan(sub, dir, now)
		if err != nil {
			return 0, err
		}
		count += n
	}
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	f, err := os.Create(filepath.Join(dir, name+".1"))
	if err != nil {
		return 0, err
	}
	err = doc.GenMan(c, header(now), f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return count + 1, err
}

func header(now func() time.Time) *doc.GenManHeader {
	h := &doc.GenManHeader{Section: "1", Source: "locus " + buildVersion().Version, Manual: "locus"}
	if os.Getenv("SOURCE_DATE_EPOCH") == "" { // the library reads this variable
		at := now()
		h.Date = &at
	}
	return h
}
