package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locus/config/etcd"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/idgen/cipher"
)

// rotating holds the parameters of a call of a command that makes another version current.
type rotating struct {
	*keysOf
	key    cipher.Rotation // the version, and how its key is made if it has none
	makes  bool            // makes a key if every key of the ring has been current before
	wait   time.Duration
	dryRun bool

	path string
	ring *cipher.Ring
}

// rotatedView is the output of the command.
type rotatedView struct {
	Version uint32         `json:"version"` // the version that is to be current
	Before  uint32         `json:"before"`
	Added   bool           `json:"added"`   // its key was added to the file
	Current bool           `json:"current"` // it hides new numbers now
	Lacking []keyring.Lack `json:"lacking"` // processes that can't read it, or don't use it for new IDs yet
}

// waitTime is the default time limit of --wait.
const waitTime = "10m"

func (k *keysOf) rotate() *cobra.Command {
	r := &rotating{keysOf: k, makes: true}
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
			if r.key.Add {
				return r.addOnly()
			}
			return k.in.withEtcd(func(conn *connection) error { return r.run(command.Context(), conn) })
		},
	}
	flags := command.Flags()
	flags.StringVar(&r.key.Cipher, "cipher", "ff1", "the `cipher` that hides: ff1, chacha20 or aes-ctr")
	flags.Uint32Var(&r.key.Version, "version", 0, "the key's `version`; 0 is the newest, or the one after it")
	flags.BoolVar(&r.key.Reuse, "reuse", false, "give a retired version to the new key: numbers of the old one become unreadable")
	flags.BoolVar(&r.key.Add, "add-only", false, "only add the key to the file")
	r.waitFlags(command)
	return command
}

func (k *keysOf) use() *cobra.Command {
	r := &rotating{keysOf: k}
	command := &cobra.Command{
		Use:   "use VERSION",
		Short: "Hide new numbers by an earlier key of the ring, once every process has it",
		Long: `Hide new numbers by a version that the ring contains, such as the previous one. It
becomes current in the same way as by 'locus keys rotate'.`,
		Example: "  locus keys use 3\n  locus keys use 2 --wait",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) (err error) {
			if r.key.Version, err = keyVersion(args[0]); err != nil {
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
	flags.DurationVar(&r.wait, "wait", 0, "wait until every process has the key, for this `time` at most")
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
	if r.path, err = r.keysOf.path(); err != nil {
		return err
	}
	if told := cipher.StillTold(r.key.Cipher); told != "" {
		fmt.Fprintf(r.in.stderr, "warning: numbers hidden by %s still reveal %s\n", r.key.Cipher, told)
	}
	r.ring, err = cipher.Load(r.path)
	return err
}

func (r *rotating) addOnly() error {
	if r.dryRun {
		fmt.Fprintf(r.in.stdout, "would add a key of cipher %s to %s\n", r.key.Cipher, r.path)
		return nil
	}
	version, err := cipher.Rotate(r.path, r.key)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.in.stdout, "version %d was added to %s: copy the file to every process, and make it current by locus keys use %d --wait\n", version, r.path, version)
	return nil
}

// run finds the version, adds its key if there is none, and makes it current.
func (r *rotating) run(ctx context.Context, conn *connection) error {
	var current keyring.Current
	var version uint32
	var adds bool
	err := patiently(ctx, r.wait, func(why error) { fmt.Fprintln(r.progress(), "waiting for etcd:", why) }, func() (err error) {
		if current, _, err = keyring.ReadCurrent(ctx, conn.kv); err != nil {
			return fmt.Errorf("%w: %w", keyring.ErrUnchanged, err)
		}
		if version, adds, err = r.chosen(current.Version); err != nil {
			return err
		}
		if err = r.in.opsOf(conn).CheckKeyVersion(ctx, r.ring, version, adds); err != nil {
			return fmt.Errorf("key version %d can't become current: %w: %w", version, keyring.ErrUnchanged, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	view := rotatedView{Version: version, Before: current.Version, Lacking: []keyring.Lack{}}
	if r.dryRun {
		return r.foresee(ctx, conn, view, adds)
	}
	if adds {
		r.key.Version, r.key.Add = version, true
		if _, err := cipher.Rotate(r.path, r.key); err != nil {
			return err
		}
		if err := r.open(); err != nil {
			return err
		}
		view.Added = true
		fmt.Fprintf(r.progress(), "version %d was added to %s: copy the file to every process\n", version, r.path)
	}
	outcome, err := keyring.Rotation{
		KV: conn.kv, Version: version, Fingerprint: r.ring.Fingerprint(version), By: r.in.operator(), Now: r.in.now, Wait: r.wait,
		Tell: func(waiting []keyring.Lack) {
			if r.wait > 0 {
				fmt.Fprintf(r.progress(), "waiting for %s\n", joined(waiting))
			}
		},
	}.Run(ctx)
	if err != nil {
		return err
	}
	view.Before, view.Current, view.Lacking = outcome.Before, true, append(view.Lacking, outcome.Lagging...)
	if err := cipher.Use(r.path, version); err != nil { // the version in etcd is authoritative
		fmt.Fprintln(r.in.stderr, "warning: the file itself names another version as current, which counts for a new cluster alone:", err)
	}
	return r.in.show(view, func(w io.Writer) { printRotated(w, view) })
}

// againEvery is the pause before another request to etcd.
const againEvery = time.Second

// patiently retries a read while etcd does not answer, for example while it has no leader, for at most wait. It
// reports the reason once.
func patiently(ctx context.Context, wait time.Duration, tell func(error), read func() error) error {
	over := time.Now().Add(wait)
	for told := false; ; told = true {
		err := read()
		if err == nil || !etcd.Away(err) || time.Now().Add(againEvery).After(over) {
			return err
		}
		if !told {
			tell(err)
		}
		select {
		case <-time.After(againEvery):
		case <-ctx.Done():
			return err
		}
	}
}

// progress returns the writer for messages to people. In the output for programs, standard output contains only
// the result.
func (r *rotating) progress() io.Writer {
	if r.in.output == table {
		return r.in.stdout
	}
	return r.in.stderr
}

// chosen returns the version that is to be current, and whether its key must be made.
func (r *rotating) chosen(current uint32) (version uint32, adds bool, err error) {
	if current == 0 {
		current = r.ring.Current()
	}
	has := func(v uint32) bool { return r.ring.Fingerprint(v) != "" }
	switch newest := r.ring.Versions()[len(r.ring.Versions())-1]; {
	case r.key.Version > 0 && has(r.key.Version):
		return r.key.Version, false, nil
	case r.key.Version > 0 && !r.makes:
		return 0, false, fmt.Errorf("version %d is not in %s, which has %v: %w", r.key.Version, r.path, r.ring.Versions(), keyring.ErrUnchanged)
	case r.key.Version > 0:
		return r.key.Version, true, nil
	case newest > current:
		return newest, false, nil
	}
	return r.ring.Next(), true, nil
}

// foresee prints what a call without --dry-run would do.
func (r *rotating) foresee(ctx context.Context, conn *connection, view rotatedView, adds bool) error {
	if !adds {
		cards, err := fleet.Processes(ctx, conn.kv)
		if err != nil {
			return err
		}
		view.Lacking = append(view.Lacking, keyring.Lacking(cards, view.Version, r.ring.Fingerprint(view.Version))...)
	}
	return r.in.show(view, func(w io.Writer) {
		if adds {
			fmt.Fprintf(w, "would add a key of cipher %s under version %d to %s, which every process lacks\n", r.key.Cipher, view.Version, r.path)
		}
		for _, l := range view.Lacking {
			fmt.Fprintln(w, "lacks it:", l)
		}
		fmt.Fprintf(w, "would make version %d current, once every process can read it\ndry run: nothing was written\n", view.Version)
	})
}

func printRotated(w io.Writer, v rotatedView) {
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
