package handshake

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// As MySQL 9.7 has stored them.
func TestStoredHashesOfMySQL(t *testing.T) {
	for password, stored := range map[string]string{
		password: sha2Hash,
		"a":      "0x24412430304124292A37173E084D591A2A61341E2E502D652607015843476E6258572F695064555639584473544D4A56434E545A546A342E56474B304137464145754C703342",
		"correct horse battery staple, and then some more of it, to be longer than 32 and 64 bytes": "0x244124303041247D781221683C73047B6B28055462745C770F" +
			"7169794E3445523241694861394F4C7738304845752F4B2E7544353548334C786563584A71357652315767772E",
	} {
		crypt := mustHash(t, "u", stored).crypt
		if crypt.rounds != 10_000 {
			t.Errorf("%q: %d rounds", password, crypt.rounds)
		}
		for guess, right := range map[string]bool{password: true, password + "x": false, "": false, "Secret": false} {
			if crypt.matches([]byte(guess)) != right {
				t.Errorf("%q for %q", guess, password)
			}
		}
		plain, err := hex.DecodeString(stored[2:])
		if err != nil {
			t.Fatal(err)
		}
		if again := mustHash(t, "u", string(plain)).crypt; !again.matches([]byte(password)) {
			t.Errorf("%q: not recognised when given as it is", password)
		}
	}
}

// Hashing a password takes time that grows with the square of its length, so too long ones are refused.
func TestLongPasswordsAreRefused(t *testing.T) {
	crypt := *mustHash(t, "u", sha2Hash).crypt
	long := []byte(strings.Repeat("x", maxPassword))
	crypt.want = cryptSHA256(long, crypt.salt, crypt.rounds)
	if !crypt.matches(long) {
		t.Errorf("%d bytes were refused", len(long))
	}
	longer := append(long, 'x')
	crypt.want = cryptSHA256(longer, crypt.salt, crypt.rounds)
	if crypt.matches(longer) {
		t.Errorf("%d bytes were accepted", len(longer))
	}
}

func TestHashesThatAreNone(t *testing.T) {
	for _, hash := range []string{
		"", "*", "0x", "0xzz", "secret", nativeHash[1:], nativeHash + "0", "*" + strings.Repeat("x", 40),
		"$A$005$short", "$A$000$" + strings.Repeat("x", 63), "$B$005$" + strings.Repeat("x", 63), "$A$5$" + strings.Repeat("x", 63),
	} {
		if a, err := WithHash("someone", hash); err == nil || !strings.Contains(err.Error(), "someone") {
			t.Errorf("%q: %v, %v", hash, a, err)
		}
	}
}

func TestAccountsKeepTheirSecrets(t *testing.T) {
	for _, a := range []Account{WithPassword("me", "secret"), mustHash(t, "me", nativeHash), mustHash(t, "me", sha2Hash)} {
		if got := fmt.Sprintf("%v %+v %s", a, a, a); got != "me me me" {
			t.Error(got)
		}
	}
}

func TestDirectory(t *testing.T) {
	if a, known := NewDirectory().Lookup("nobody"); known || a.name != "" || a.open {
		t.Error("an empty directory knows", a)
	}
	many := []Account{WithPassword("a", "1"), WithPassword("b", "2"), WithPassword("c", "3"), WithPassword("d", "4")}
	d := NewDirectory(many...)
	if a, known := d.Lookup("b"); !known || a.name != "b" {
		t.Error(a, known)
	}
	decoysOf := map[string]int{}
	for i := range 400 {
		user := fmt.Sprint("nobody", i)
		decoy, known := d.Lookup(user)
		if again, _ := d.Lookup(user); known || again.name != decoy.name {
			t.Fatalf("%s: %s, then %s", user, decoy, again)
		}
		decoysOf[decoy.name]++
	}
	for _, a := range many {
		if n := decoysOf[a.name]; n < 40 {
			t.Errorf("decoys: %v", decoysOf)
		}
	}
}

func TestDigestsAreBounded(t *testing.T) {
	d := NewDigests(3)
	for i := range 10 {
		a := Account{name: fmt.Sprint(i), hash: "h"}
		d.put(a, doubleSHA256([]byte(a.name)))
		if _, ok := d.get(a); !ok || len(d.byName) > 3 {
			t.Fatalf("%d: %v, %d remembered", i, ok, len(d.byName))
		}
	}
	if _, ok := d.get(Account{name: "9", hash: "another"}); ok {
		t.Error("a digest outlived its hash")
	}
	var none *Digests
	none.put(Account{}, doubleSHA256(nil))
	if _, ok := none.get(Account{}); ok {
		t.Error("none at all")
	}
}

func TestSelfSigned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	var made [3]*Identity
	var running sync.WaitGroup
	for i := range made {
		running.Go(func() {
			var err error
			if made[i], err = SelfSigned(dir); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	for _, id := range made[1:] {
		if !id.RSA.Equal(made[0].RSA) || !id.TLS.Certificates[0].Leaf.Equal(made[0].TLS.Certificates[0].Leaf) {
			t.Error("processes that started together have different keys")
		}
	}
	leaf := made[0].TLS.Certificates[0].Leaf
	host, _ := os.Hostname()
	for _, name := range []string{"localhost", "127.0.0.1", "::1", host} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if years := leaf.NotAfter.Sub(leaf.NotBefore).Hours() / 24 / 365; years < 9.9 {
		t.Errorf("good for %.1f years", years)
	}
	if bits := made[0].RSA.N.BitLen(); bits != rsaBits {
		t.Errorf("RSA key of %d bits", bits)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 3 {
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestSelfSignedNamesTheFileAtFault(t *testing.T) {
	for _, file := range []string{certificateFile, keyFile, rsaFile} {
		dir := t.TempDir()
		if _, err := SelfSigned(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := SelfSigned(dir); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "remove") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
