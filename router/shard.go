package router

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// ShardName identifies a shard in the map, in the cluster's documents and on the command line.
type ShardName string

var shardName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// Validate refuses names that would be ambiguous in a line, a path or a flag.
func (n ShardName) Validate() error {
	if shardName.MatchString(string(n)) {
		return nil
	}
	return fmt.Errorf("shard name %q: use 1 to 63 letters, digits, '_', '.' and '-', beginning with a letter or digit", string(n))
}

// Compare sorts names in natural order: s2 before s10.
func (n ShardName) Compare(other ShardName) int {
	a, b := string(n), string(other)
	for a != "" && b != "" {
		aNumber, bNumber := leadingDigits(a), leadingDigits(b)
		if aNumber == "" || bNumber == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		if c := compareNumbers(aNumber, bNumber); c != 0 {
			return c
		}
		a, b = a[len(aNumber):], b[len(bNumber):]
	}
	// The rest decides. For s1 and s01, which are equal so far, byte order decides.
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(string(n), string(other)))
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// compareNumbers compares digits of any length without overflow.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
