package handshake

import (
	"bytes"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

func TestChangeUser(t *testing.T) {
	s := serve(t, withoutTLS(config(t)))
	login := func() *peer {
		p := dial(t, s.address)
		p.write(1, loginPacket(rawCapabilities, "clear", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password)))
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Fatalf("%q", payload)
		}
		if o := s.outcome(t); o.err != nil {
			t.Fatal(o.err)
		}
		return p
	}
	change := func(user, plugin string, response []byte) []byte {
		b := append([]byte{mysql.COM_CHANGE_USER}, user...)
		b = append(b, 0, byte(len(response)))
		b = append(append(b, response...), "other\x00\x2e\x00"...)
		return append(append(b, plugin...), 0)
	}
	t.Run("at once", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse(password)))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 1 {
			t.Errorf("%q, number %d", payload, seq)
		}
		c := s.outcome(t).client
		if c.User != "native" || c.Database != "other" || c.Collation != 46 || c.Capabilities != rawCapabilities {
			t.Errorf("%+v", c)
		}
		p.write(0, []byte{mysql.COM_PING})
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Errorf("afterwards: %q", payload)
		}
	})
	t.Run("by another plugin", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_CACHING_SHA2_PASSWORD, p.sha2Response(password)))
		if payload, seq := p.read(); !bytes.HasPrefix(payload, []byte("\xfemysql_native_password\x00")) || seq != 1 {
			t.Errorf("%q, number %d", payload, seq)
		}
		p.write(2, p.nativeResponse(password))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 3 {
			t.Errorf("%q, number %d", payload, seq)
		}
	})
	t.Run("refused", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, p.nativeResponse("wrong")))
		if payload, _ := p.read(); !bytes.Contains(payload, []byte("Access denied for user 'native'")) {
			t.Errorf("%q", payload)
		}
		p.gone()
	})
	t.Run("malformed", func(t *testing.T) {
		p := login()
		p.write(0, []byte{mysql.COM_CHANGE_USER, 'x'})
		if payload, _ := p.read(); !bytes.Contains(payload, []byte("Bad handshake")) {
			t.Errorf("%q", payload)
		}
		p.gone()
	})
}
