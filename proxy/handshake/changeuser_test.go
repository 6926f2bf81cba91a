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
	// Servers always ask again, whatever response the command contains. Clients such as MariaDB's for Node send
	// none with it.
	for name, response := range map[string][]byte{"right": nil, "empty": {}, "NUL": {0}, "wrong": []byte("01234567890123456789")} {
		t.Run("with an answer that is "+name, func(t *testing.T) {
			p := login()
			if name == "right" {
				response = p.nativeResponse(password)
			}
			before := p.nonce
			p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, response))
			if payload, seq := p.read(); !p.switched(payload, mysql.AUTH_NATIVE_PASSWORD) || seq != 1 || bytes.Equal(before, p.nonce) {
				t.Fatalf("%q, number %d", payload, seq)
			}
			p.write(2, p.nativeResponse(password))
			if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 3 {
				t.Errorf("%q, number %d", payload, seq)
			}
			s.outcome(t)
		})
	}
	t.Run("with an empty answer to caching_sha2_password", func(t *testing.T) {
		p := login()
		p.write(0, change("clear", mysql.AUTH_CACHING_SHA2_PASSWORD, nil))
		if payload, seq := p.read(); !p.switched(payload, mysql.AUTH_CACHING_SHA2_PASSWORD) || seq != 1 {
			t.Fatalf("%q, number %d", payload, seq)
		}
		p.write(2, p.sha2Response(password))
		if payload, seq := p.read(); payload[0] != mysql.MORE_DATE_HEADER || seq != 3 {
			t.Errorf("%q, number %d", payload, seq)
		}
		if payload, _ := p.read(); payload[0] != mysql.OK_HEADER {
			t.Errorf("%q", payload)
		}
		s.outcome(t)
	})
	t.Run("with the session's other values", func(t *testing.T) {
		p := login()
		p.write(0, change("native", mysql.AUTH_NATIVE_PASSWORD, nil))
		payload, _ := p.read()
		p.switched(payload, mysql.AUTH_NATIVE_PASSWORD)
		p.write(2, p.nativeResponse(password))
		if payload, seq := p.read(); payload[0] != mysql.OK_HEADER || seq != 3 {
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
		if payload, seq := p.read(); !p.switched(payload, mysql.AUTH_NATIVE_PASSWORD) || seq != 1 {
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
		payload, _ := p.read()
		p.switched(payload, mysql.AUTH_NATIVE_PASSWORD)
		p.write(2, p.nativeResponse("wrong"))
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

// switched reports whether the payload is a request to authenticate by the plugin, and keeps its nonce.
func (p *peer) switched(payload []byte, plugin string) bool {
	nonce, is := bytes.CutPrefix(payload, append([]byte{mysql.EOF_HEADER}, plugin+"\x00"...))
	if is {
		p.nonce = bytes.Clone(bytes.TrimRight(nonce, "\x00"))
	}
	return is
}
