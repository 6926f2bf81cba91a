package handshake

import "hash/maphash"

// Directory is an immutable set of accounts.
type Directory struct{ byName map[string]Account }

// NewDirectory returns a directory of accounts. The last of several accounts with the same name counts.
func NewDirectory(accounts ...Account) *Directory {
	d := &Directory{byName: make(map[string]Account, len(accounts))}
	for _, a := range accounts {
		d.byName[a.name] = a
	}
	return d
}

// decoys selects decoy accounts. It can't be observed by clients and doesn't change while the process runs.
var decoys = maphash.MakeSeed()

// Lookup implements Accounts. For an unknown user it returns another user's account as a decoy, and always the same one while
// that exists. So unknown users meet the same plugins as known ones, and checking a password costs the same work.
func (d *Directory) Lookup(user string) (Account, bool) {
	if a, ok := d.byName[user]; ok {
		return a, true
	}
	var decoy Account
	highest := uint64(0)
	for name, a := range d.byName {
		if h := maphash.Comparable(decoys, [2]string{user, name}); h >= highest {
			highest, decoy = h, a
		}
	}
	return decoy, false
}
