package keyring

import (
	"fmt"
	"slices"

	"locus/config"
	"locus/control/fleet"
	"locus/idgen/cipher"
)

// WithoutDigits returns the processes that make texts of generators and can't hide the digits of a sequence under a key
// version. It leaves out older builds, which don't report their keys or ciphers.
func WithoutDigits(cards []fleet.Card, version uint32) []Lack {
	var list []Lack
	for _, c := range cards {
		if c.Keys == nil || !c.Proxies() && !slices.Contains(c.Roles, config.IDsTask) {
			continue
		}
		if why := hidesNoDigits(*c.Keys, version); why != "" {
			list = append(list, Lack{Process: c.ID, Why: why})
		}
	}
	return list
}

func hidesNoDigits(keys fleet.Keys, version uint32) string {
	if len(keys.Versions) == 0 {
		return "it has no key ring"
	}
	at := slices.IndexFunc(keys.Versions, func(v fleet.KeyVersion) bool { return v.Version == version })
	switch {
	case at < 0:
		return fmt.Sprintf("its key ring has versions %s", keys)
	case keys.Versions[at].Cipher == "" || keys.Versions[at].Cipher == cipher.OfDigits:
		return ""
	}
	return fmt.Sprintf("its key version %d is of cipher %s, and %s hides digits", version, keys.Versions[at].Cipher, cipher.OfDigits)
}
