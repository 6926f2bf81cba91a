package main

import (
	"github.com/spf13/cobra"
)

func keysCommand(in *invocation) *cobra.Command {
	group := groupCommand("keys", "Keys that hide order numbers")
	k := &keysOf{in: in}
	group.PersistentFlags().StringVar(&k.file, "key-ring", "", "the `file` of the keys, instead of the configuration's")
	_ = group.MarkPersistentFlagFilename("key-ring", "yaml")
	group.AddCommand(k.create(), k.status(), k.list(), k.rotate(), k.use(), k.retire())
	return group
}

// keysOf holds the parameters of a call of one of the commands.
type keysOf struct {
	in   *invocation
	file string
}

// path returns the path of the ring file that a flag or the configuration names.
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
