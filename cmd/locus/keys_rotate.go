package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/keyring"
	"locus/control/ops"
	"locus/idgen/cipher"
)

// rotating holds the parameters of a call of a command that makes another version current.
type rotating struct {
	*keysOf
	ops.RotateKey
	dryRun bool
}

// waitTime is the default time limit of --wait.
const waitTime = "10m"

func (k *keysOf) rotate() *cobra.Command {
	r := &rotating{keysOf: k}
	command := &cobra.Command{
		Use:   "rotate",
		Short: "Hide new numbers by another key, once every process has it",
		Long: `Hide new numbers by another key. Numbers that earlier keys hide can still be decoded.
The key is the newest one of the ring, if that was never current, or else a random one
that the command adds to the ring's file. Copy the file to every process: each process
reads it again within seconds, and reports the key. Once all live processes have
reported the same key, its version becomes current in etcd. A process without the key
refuses to start from then on, so no process meets a number that it can't decode.

Without --wait, the command lists the processes that lack the key, and changes nothing
if there is one: copy the file to them, and repeat the command. If it is interrupted, or
etcd is unreachable, it prints the current state. --add-only only adds the key to the file.`,
		Example: `  locus keys rotate --wait -c locus.yaml
  locus keys rotate --add-only --cipher chacha20 --key-ring keys.yaml
  locus keys rotate --wait=1h --version 2 --reuse`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := r.open(); err != nil {
				return err
			}
			if r.Key.Add {
				return r.addOnly()
			}
			return k.in.withEtcd(func(conn *connection) error { return r.run(command.Context(), conn) })
		},
	}
	flags := command.Flags()
	flags.StringVar(&r.Key.Cipher, "cipher", "ff1", "the `cipher` that hides: ff1, chacha20 or aes-ctr")
	flags.Uint32Var(&r.Key.Version, "version", 0, "the key's `version`; 0 is the newest, or the one after it")
	flags.BoolVar(&r.Key.Reuse, "reuse", false, "give a retired version to the new key: numbers of the old one become unreadable")
	flags.BoolVar(&r.Key.Add, "add-only", false, "only add the key to the file")
	r.waitFlags(command)
	return command
}

func (k *keysOf) use() *cobra.Command {
	r := &rotating{keysOf: k}
	r.Existing = true
	command := &cobra.Command{
		Use:   "use VERSION",
		Short: "Hide new numbers by an earlier key of the ring, once every process has it",
		Long: `Hide new numbers by a version that the ring contains, such as the previous one. It
becomes current in the same way as by 'locus keys rotate'.`,
		Example: "  locus keys use 3\n  locus keys use 2 --wait",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) (err error) {
			if r.Key.Version, err = keyVersion(args[0]); err != nil {
				return err
			}
			if err := r.open(); err != nil {
				return err
			}
			return k.in.withEtcd(func(conn *connection) error { return r.run(command.Context(), conn) })
		},
	}
	r.waitFlags(command)
	return command
}

func (r *rotating) waitFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.DurationVar(&r.Wait, "wait", 0, "wait until every process has the key, for this `time` at most")
	flags.Lookup("wait").NoOptDefVal = waitTime
	flags.BoolVar(&r.dryRun, "dry-run", false, "print what would be done and which processes lack the key; write nothing")
}

func keyVersion(text string) (uint32, error) {
	version, err := strconv.ParseUint(text, 10, 32)
	if err != nil || version == 0 {
		return 0, misused("%q is no version", text)
	}
	return uint32(version), nil
}

func (r *rotating) open() (err error) {
	if r.File, err = r.path(); err != nil {
		return err
	}
	if told := cipher.StillTold(r.Key.Cipher); told != "" {
		fmt.Fprintf(r.in.stderr, "warning: numbers hidden by %s still reveal %s\n", r.Key.Cipher, told)
	}
	_, err = cipher.Load(r.File)
	return err
}

func (r *rotating) addOnly() error {
	if r.dryRun {
		fmt.Fprintf(r.in.stdout, "would add a key of cipher %s to %s\n", r.Key.Cipher, r.File)
		return nil
	}
	version, err := ops.AddKey{File: r.File, Key: r.Key}.Do()
	if err != nil {
		return err
	}
	fmt.Fprintf(r.in.stdout, "version %d was added to %s: copy the file to every process, and make it current by locus keys use %d --wait\n", version, r.File, version)
	return nil
}

// run finds the version, adds its key if there is none, and makes it current.
func (r *rotating) run(ctx context.Context, conn *connection) error {
	progress := ops.RotationProgress{
		Unreachable: func(why error) { fmt.Fprintln(r.progress(), "waiting for etcd:", why) },
		Added: func(version uint32) {
			fmt.Fprintf(r.progress(), "version %d was added to %s: copy the file to every process\n", version, r.File)
		},
		Waiting: func(waiting []keyring.Lack) {
			if r.Wait > 0 {
				fmt.Fprintf(r.progress(), "waiting for %s\n", joined(waiting))
			}
		},
	}
	o := r.in.opsOf(conn)
	planned, err := o.PlanRotateKey(ctx, r.RotateKey, progress)
	if err != nil {
		return err
	}
	if r.dryRun {
		return r.foresee(planned)
	}
	done, err := o.RotateKey(ctx, planned, r.in.operator(), progress)
	if err != nil {
		return err
	}
	if done.Unused != nil {
		fmt.Fprintln(r.in.stderr, "warning: the file itself names another version as current, which counts for a new cluster alone:", done.Unused)
	}
	return r.in.show(done, func(w io.Writer) { printRotated(w, done) })
}

// progress returns the writer for messages to people. In the output for programs, standard output contains only
// the result.
func (r *rotating) progress() io.Writer {
	if r.in.output == table {
		return r.in.stdout
	}
	return r.in.stderr
}

// foresee prints what a call without --dry-run would do.
func (r *rotating) foresee(p *ops.KeyRotation) error {
	return r.in.show(ops.Rotated{Version: p.Version, Before: p.Before, Lacking: p.Lacking}, func(w io.Writer) {
		if p.Adds {
			fmt.Fprintf(w, "would add a key of cipher %s under version %d to %s, which every process lacks\n", r.Key.Cipher, p.Version, r.File)
		}
		for _, l := range p.Lacking {
			fmt.Fprintln(w, "lacks it:", l)
		}
		fmt.Fprintf(w, "would make version %d current, once every process can read it\ndry run: nothing was written\n", p.Version)
	})
}

func printRotated(w io.Writer, v ops.Rotated) {
	fmt.Fprintf(w, "key version %d hides new numbers", v.Version)
	if v.Before > 0 && v.Before != v.Version {
		fmt.Fprintf(w, "; %d did before, and stays readable", v.Before)
	}
	fmt.Fprintln(w)
	for _, l := range v.Lacking {
		fmt.Fprintln(w, "not yet:", l)
	}
}

func joined(list []keyring.Lack) string {
	var texts []string
	for _, l := range list {
		texts = append(texts, l.String())
	}
	return strings.Join(texts, "; ")
}
