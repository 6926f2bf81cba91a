package handshake

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// transcript plays a client that knows no password but answers every request. It returns everything that the server sent.
func (p *peer) transcript(user, plugin string) (told []string) {
	response := make([]byte, 20)
	if plugin == mysql.AUTH_CACHING_SHA2_PASSWORD {
		response = make([]byte, 32)
	}
	_, _ = rand.Read(response)
	answer := loginPacket(rawCapabilities, user, plugin, response)
	for seq := byte(1); ; {
		p.write(seq, answer)
		payload, number := p.read()
		seq = number + 1
		switch {
		case wire.IsERR(payload):
			e, _ := wire.ParseERR(payload)
			return append(told, fmt.Sprint(number, strings.ReplaceAll(e.Error(), user, "USER")))
		case payload[0] == mysql.EOF_HEADER:
			named, _, _ := bytes.Cut(payload[1:], []byte{0})
			told = append(told, fmt.Sprint(number, " switch to ", string(named)))
			answer = make([]byte, 20)
			if string(named) == mysql.AUTH_CACHING_SHA2_PASSWORD {
				answer = make([]byte, 32)
			}
		case bytes.Equal(payload, []byte{mysql.MORE_DATE_HEADER, mysql.CACHE_SHA2_FULL_AUTH}):
			told = append(told, fmt.Sprint(number, " full path"))
			answer = []byte{wantPublicKey}
		default:
			told = append(told, fmt.Sprintf("%d %.30q", number, payload))
			answer = p.encrypted(payload[1:], "guess")
		}
	}
}

func (p *peer) encrypted(key []byte, password string) []byte {
	block, _ := pem.Decode(key)
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		p.t.Fatal(err)
	}
	masked := mysql.Xor([]byte(password+"\x00"), p.nonce)
	out, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public.(*rsa.PublicKey), masked, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// A client can't find out by guessing which users exist: if all accounts use the same plugin, the server treats
// an unknown user like a known one.
func TestUnknownUsersLookLikeKnownOnes(t *testing.T) {
	for _, account := range []Account{WithPassword("known", password), mustHash(t, "known", nativeHash), mustHash(t, "known", sha2Hash)} {
		for _, rsaKey := range []bool{true, false} {
			cfg := withoutTLS(config(t))
			cfg.Accounts = NewDirectory(account)
			cfg.Digests.put(account, doubleSHA256([]byte(password)))
			if !rsaKey {
				cfg.RSA = nil
			}
			s := serve(t, cfg)
			for _, plugin := range []string{mysql.AUTH_CACHING_SHA2_PASSWORD, mysql.AUTH_NATIVE_PASSWORD, "dialog"} {
				known, unknown := dial(t, s.address).transcript("known", plugin), dial(t, s.address).transcript("nobody", plugin)
				if fmt.Sprint(known) != fmt.Sprint(unknown) {
					t.Errorf("by %s:\n  known user: %q\nunknown user: %q", plugin, known, unknown)
				}
			}
		}
	}
}

// An unknown user is refused even with the password of the account that serves as the decoy.
func TestDecoysLetNobodyIn(t *testing.T) {
	for _, account := range []Account{WithPassword("known", password), mustHash(t, "known", nativeHash), WithPassword("known", "")} {
		cfg := withoutTLS(config(t))
		cfg.Accounts = NewDirectory(account)
		s := serve(t, cfg)
		given := password
		if account.open {
			given = ""
		}
		for _, connect := range clients {
			if code, _ := errorCode(connect(t, attempt{address: s.address, user: "nobody", password: given})); code != mysql.ER_ACCESS_DENIED_ERROR {
				t.Errorf("error %d with an account of %+v", code, account)
			}
		}
	}
}

// The fast path, which the owner of that password would take, must not reveal the decoy either.
func TestDecoysTakeTheFullPath(t *testing.T) {
	cfg := withoutTLS(config(t))
	cfg.Accounts = NewDirectory(WithPassword("known", password))
	p := dial(t, serve(t, cfg).address)
	p.write(1, loginPacket(rawCapabilities, "nobody", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
	if payload, _ := p.read(); !bytes.Equal(payload, []byte{mysql.MORE_DATE_HEADER, mysql.CACHE_SHA2_FULL_AUTH}) {
		t.Errorf("%q", payload)
	}
}
