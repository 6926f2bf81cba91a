package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"locus/idgen/cipher"
)

func keysCommand(in *invocation) *cobra.Command {
	group := groupCommand("keys", "Keys that hide order numbers")
	k := &keysOf{in: in}
	group.PersistentFlags().StringVar(&k.file, "key-ring", "", "the `file` of the keys, instead of the configuration's")
	_ = group.MarkPersistentFlagFilename("key-ring", "yaml")
	group.AddCommand(k.list(), k.rotate(), k.use(), k.retire())
	return group
}

// keysOf is a call of one of the commands.
type keysOf struct {
	in   *invocation
	file string
}

// path is the ring file that a flag or the configuration names.
func (k *keysOf) path() (string, error) {
	if k.file != "" {
		return k.file, nil
	}
	c, err := k.in.configuration()
	if err != nil {
		return "", err
	}
	if c.KeyRing == "" {
		return "", misused("no key ring: name it by --key-ring, or as key_ring in the configuration")
	}
	return c.KeyRing, nil
}

// keyView is a version of a ring. It shows no key.
type keyView struct {
	Version uint32 `json:"version"`
	Cipher  string `json:"cipher,omitempty"`
	State   string `json:"state"`
}

func (k *keysOf) list() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show the versions of a key ring, and no key",
		Example: "  locus keys list --key-ring keys.yaml\n  locus keys list -c locus.yaml -o json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := k.path()
			if err != nil {
				return err
			}
			ring, err := cipher.Load(path)
			if err != nil {
				return err
			}
			var views []keyView
			for _, version := range ring.Versions() {
				state := "decodes"
				if version == ring.Current() {
					state = "current"
				}
				views = append(views, keyView{version, ring.Cipher(version), state})
			}
			for _, version := range ring.Retired() {
				views = append(views, keyView{version, "", "retired"})
			}
			slices.SortFunc(views, func(a, b keyView) int { return int(a.Version) - int(b.Version) })
			rows := [][]string{{"VERSION", "CIPHER", "STATE"}}
			for _, v := range views {
				rows = append(rows, []string{strconv.FormatUint(uint64(v.Version), 10), orDash(v.Cipher), v.State})
			}
			return k.in.show(views, func(w io.Writer) { columns(w, rows) })
		},
	}
}

func (k *keysOf) rotate() *cobra.Command {
	r := cipher.Rotation{}
	var dryRun bool
	command := &cobra.Command{
		Use:   "rotate",
		Short: "Add a random key and hide new numbers with it",
		Long: `Add a random key under a new version and make it current for new numbers. Old
numbers keep decoding. With several proxies, add the key with --add-only, bring
the file to all of them, restart them, and then make it current by 'locus keys
use': so none meets a number whose key it lacks.`,
		Example: `  locus keys rotate --key-ring keys.yaml
  locus keys rotate --cipher chacha20 --add-only
  locus keys rotate --version 2 --reuse`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := k.path()
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintf(k.in.stdout, "would add a key of cipher %s to %s\n", r.Cipher, path)
				return nil
			}
			version, err := cipher.Rotate(path, r)
			if err != nil {
				return err
			}
			what := "is current"
			if r.Add {
				what = "was added"
			}
			fmt.Fprintf(k.in.stdout, "version %d %s in %s: bring the file to every proxy and restart them\n", version, what, path)
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&r.Cipher, "cipher", "ff1", "what hides: `ff1`, chacha20 or aes-ctr")
	flags.Uint32Var(&r.Version, "version", 0, "the key's `version`; 0 is the one after the highest")
	flags.BoolVar(&r.Reuse, "reuse", false, "give a retired version to the new key: nothing that it hid is wanted any more")
	flags.BoolVar(&r.Add, "add-only", false, "leave the current version as it is")
	flags.BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	return command
}

func (k *keysOf) use() *cobra.Command {
	return k.change("use VERSION", "Make a version of the ring the current one", "  locus keys use 3",
		func(path string, version uint32) error { return cipher.Use(path, version) }, "hides new numbers", "")
}

func (k *keysOf) retire() *cobra.Command {
	return k.change("retire VERSION", "Remove a key for ever: what it hid can't be decoded any more", "  locus keys retire 1",
		func(path string, version uint32) error { return cipher.Retire(path, version) }, "is retired", "Numbers of version %d can't be decoded any more, by nobody. Remove its key?")
}

func (k *keysOf) change(use, short, example string, do func(string, uint32) error, done, question string) *cobra.Command {
	var dryRun, yes bool
	command := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			version, err := strconv.ParseUint(args[0], 10, 32)
			if err != nil || version == 0 {
				return misused("%q is no version", args[0])
			}
			path, err := k.path()
			if err != nil {
				return err
			}
			if dryRun {
				fmt.Fprintf(k.in.stdout, "would change %s: version %d %s\n", path, version, done)
				return nil
			}
			if question != "" && !yes {
				if err := k.in.confirm(fmt.Sprintf(question, version)); err != nil {
					return err
				}
			}
			if err := do(path, uint32(version)); err != nil {
				return err
			}
			fmt.Fprintf(k.in.stdout, "version %d %s in %s: bring the file to every proxy and restart them\n", version, done, path)
			return nil
		},
	}
	command.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would be done")
	if question != "" {
		command.Flags().BoolVar(&yes, "yes", false, "don't ask")
	}
	return command
}
