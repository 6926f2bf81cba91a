//go:build servers

package generators

import (
	"strings"
	"testing"

	"locus/idgen/cipher"
	"locus/router/cluster"
)

const waybill = "{context:shop:4}-{seq:8,hidden=%s}"

func ringOf(t *testing.T, key string) *cipher.Ring {
	t.Helper()
	ring, err := cipher.Parse([]byte("current: 1\nkeys:\n  - {version: 1, key: " + key + "}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// Two processes make different hidden numbers. A process whose key ring has another key under the version makes
// none.
func TestHiddenSequences(t *testing.T) {
	store, seen := newKV(), map[string]bool{}
	declared := of(map[string]cluster.Generator{
		"inner":   {Kind: cluster.SegmentGenerator, MinStep: 10},
		"waybill": {Kind: cluster.FormatGenerator, Template: strings.ReplaceAll(waybill, "%s", "1"), Of: []string{"inner"}},
		"later":   {Kind: cluster.FormatGenerator, Template: strings.ReplaceAll(waybill, "%s", "2")},
	})
	request := func(name string) Request {
		return Request{Declared: declared, Name: name, Count: 50, Context: map[string]string{"shop": "TMAL"}}
	}
	const key, other = "2b7e151628aed2a6abf7158809cf4f3c", "3b7e151628aed2a6abf7158809cf4f3c"
	rising := 0
	for range 2 {
		set := open(t, store)
		set.HideBy(func() *cipher.Ring { return ringOf(t, key) })
		texts, err := set.Next(t.Context(), request("waybill"))
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			if seen[text] {
				t.Errorf("%s came twice", text)
			}
			seen[text] = true
			if i > 0 && text > texts[i-1] {
				rising++
			}
		}
		if _, err := set.Next(t.Context(), request("later")); err == nil || !strings.Contains(err.Error(), "key version 2 is not in the key ring") {
			t.Errorf("a version without a key: %v", err)
		}
	}
	if rising > 70 {
		t.Errorf("%d of 98 rise: the order shows", rising)
	}
	for name, ring := range map[string]*cipher.Ring{"put that key back": ringOf(t, other), "has no version": nil} {
		set := open(t, store)
		set.HideBy(func() *cipher.Ring { return ring })
		if texts, err := set.Next(t.Context(), request("waybill")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("with another key ring: %v, %v, want %q", texts, err, name)
		}
	}
}
