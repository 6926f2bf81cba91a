package wire

import (
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// As MySQL 9.7 greets.
func TestGreetingGolden(t *testing.T) {
	g := Greeting{
		ServerVersion: "9.7.4-2", ConnectionID: 20, Capabilities: 0xdfffffff, Collation: 255,
		Status: mysql.SERVER_STATUS_AUTOCOMMIT, Plugin: mysql.AUTH_CACHING_SHA2_PASSWORD,
	}
	copy(g.Nonce[:], unhex(t, "54504c13431243296e03500d4968777a4e67391e"))
	want := "4b0000000a392e372e342d32001400000054504c134312432900ffffff0200ffdf15000000000000000000006e03500d4968777a4e67391e00" +
		"63616368696e675f736861325f70617373776f726400"
	if got, seq := AppendGreeting(nil, g); hex.EncodeToString(got) != want || seq != 1 {
		t.Errorf("got %x, want %s", got, want)
	}
}

func TestAuthenticationGolden(t *testing.T) {
	if got, seq := AppendAuthMore(nil, 2, []byte{mysql.CACHE_SHA2_FULL_AUTH}); hex.EncodeToString(got) != "020000020104" || seq != 3 {
		t.Errorf("more: %x", got)
	}
	nonce := [NonceSize]byte([]byte("abcdefghijklmnopqrst"))
	got, _ := AppendAuthSwitch(nil, 2, "p", nonce)
	if want := "18000002fe7000" + hex.EncodeToString(nonce[:]) + "00"; hex.EncodeToString(got) != want {
		t.Errorf("switch: %x, want %s", got, want)
	}
}

// The answers of real clients to a greeting, without the header.
const (
	byLibmariadb = "8da2bf0000001000210000000000000000000000000000000000000000000000636c6561720020ab1caf9e205c700c73f9bcec844c5e8b131b56e27a4d37" +
		"64b569e152b28d2c126462780063616368696e675f736861325f70617373776f7264007f035f6f73054c696e75780c5f636c69656e745f6e616d650a6c69626d61" +
		"7269616462045f7069640531363138360f5f636c69656e745f76657273696f6e06332e332e3230095f706c6174666f726d067838365f36340c70726f6772616d5f" +
		"6e616d65056d7973716c0c5f7365727665725f686f7374093132372e302e302e31"
	byLibmysql = "8da2bf1900000001ff0000000000000000000000000000000000000000000000636c656172002073b0825a2f1a23e6ef5aaac8bb2a271e5bee989d8dfe80da" +
		"24dd1976d01552516462780063616368696e675f736861325f70617373776f72640072045f706964053136313837095f706c6174666f726d067838365f3634035f" +
		"6f73054c696e75780c5f636c69656e745f6e616d65086c69626d7973716c076f735f7573657204726f6f740f5f636c69656e745f76657273696f6e05392e372e34" +
		"0c70726f6772616d5f6e616d65056d7973716c"
	tlsRequest = "8daabf0000001000210000000000000000000000000000000000000000000000"
)

func attributes(t *testing.T, block []byte) string {
	t.Helper()
	all := map[string]string{}
	for len(block) > 0 {
		name, value, rest, err := NextAttribute(block)
		if err != nil {
			t.Fatal(err)
		}
		all[string(name)] = string(value)
		block = rest
	}
	return fmt.Sprint(all)
}

func TestLoginOfRealClients(t *testing.T) {
	for _, c := range []struct {
		packet, response, attributes string
		collation                    uint16
		maxPacket                    uint32
	}{
		{
			packet: byLibmariadb, collation: 33, maxPacket: 1 << 20,
			response: "ab1caf9e205c700c73f9bcec844c5e8b131b56e27a4d3764b569e152b28d2c12",
			attributes: "map[_client_name:libmariadb _client_version:3.3.20 _os:Linux _pid:16186 _platform:x86_64 _server_host:127.0.0.1 " +
				"program_name:mysql]",
		}, {
			packet: byLibmysql, collation: 255, maxPacket: 1 << 24,
			response:   "73b0825a2f1a23e6ef5aaac8bb2a271e5bee989d8dfe80da24dd1976d0155251",
			attributes: "map[_client_name:libmysql _client_version:9.7.4 _os:Linux _pid:16187 _platform:x86_64 os_user:root program_name:mysql]",
		},
	} {
		payload := unhex(t, c.packet)
		l, err := ParseLogin(payload)
		if err != nil {
			t.Fatal(err)
		}
		if string(l.User) != "clear" || string(l.Database) != "dbx" || string(l.Plugin) != mysql.AUTH_CACHING_SHA2_PASSWORD {
			t.Errorf("user %q, database %q, plugin %q", l.User, l.Database, l.Plugin)
		}
		if hex.EncodeToString(l.Response) != c.response || l.Collation != c.collation || l.MaxPacket != c.maxPacket {
			t.Errorf("response %x, collation %d, packets of %d", l.Response, l.Collation, l.MaxPacket)
		}
		if got := attributes(t, l.Attributes); got != c.attributes {
			t.Errorf("attributes %s", got)
		}
		if IsTLSRequest(payload) {
			t.Error("taken for a TLS request")
		}
	}
	if !IsTLSRequest(unhex(t, tlsRequest)) {
		t.Error("a TLS request wasn't recognised")
	}
}

// Cut off anywhere, a login is refused, or ends with a part that may be missing.
func TestTruncatedLogin(t *testing.T) {
	payload := unhex(t, byLibmysql)
	whole, err := ParseLogin(payload)
	if err != nil {
		t.Fatal(err)
	}
	afterResponse := 32 + len("clear\x00") + 1 + len(whole.Response)
	for cut := range payload {
		l, err := ParseLogin(payload[:cut:cut])
		if cut < afterResponse && !errors.Is(err, ErrMalformed) {
			t.Errorf("cut to %d bytes: %+v, %v", cut, l, err)
		}
		if err == nil && string(l.User) != "clear" {
			t.Errorf("cut to %d bytes: user %q", cut, l.User)
		}
	}
}

func TestLoginOfOldClients(t *testing.T) {
	head := "0d820000" + "00000001" + "21" + "0000000000000000000000000000000000000000000000"
	l, err := ParseLogin(unhex(t, head+hex.EncodeToString([]byte("me\x00\x02ab"))))
	if err != nil || string(l.User) != "me" || string(l.Response) != "ab" || len(l.Plugin)+len(l.Database)+len(l.Attributes) > 0 {
		t.Errorf("secure connection: %+v, %v", l, err)
	}
	withNUL := "0d020000" + head[8:]
	l, err = ParseLogin(unhex(t, withNUL+hex.EncodeToString([]byte("me\x00ab\x00db"))))
	if err != nil || string(l.User) != "me" || string(l.Response) != "ab" || string(l.Database) != "db" {
		t.Errorf("response up to NUL, database up to the end: %+v, %v", l, err)
	}
	before41 := "0d800000" + head[8:]
	if _, err = ParseLogin(unhex(t, before41+hex.EncodeToString([]byte("me\x00\x02ab")))); !errors.Is(err, ErrMalformed) {
		t.Errorf("without protocol 4.1: %v", err)
	}
}

func TestChangeUser(t *testing.T) {
	const capabilities = mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_SECURE_CONNECTION | mysql.CLIENT_PLUGIN_AUTH | mysql.CLIENT_CONNECT_ATTRS
	payload := append([]byte{mysql.COM_CHANGE_USER}, "me\x00\x03abcdb\x00\x2d\x01plugin\x00\x04\x01k\x01v"...)
	l, err := ParseChangeUser(payload, capabilities)
	if err != nil || string(l.User) != "me" || string(l.Response) != "abc" || string(l.Database) != "db" || l.Collation != 0x12d {
		t.Errorf("%+v, %v", l, err)
	}
	if string(l.Plugin) != "plugin" || attributes(t, l.Attributes) != "map[k:v]" || l.Capabilities != capabilities {
		t.Errorf("%+v", l)
	}
	short, err := ParseChangeUser(payload[:len("_me\x00\x03abcdb\x00")], capabilities)
	if err != nil || string(short.Database) != "db" || short.Collation != 0 || len(short.Plugin) > 0 {
		t.Errorf("without what may be missing: %+v, %v", short, err)
	}
	if _, err := ParseChangeUser(payload[:5], capabilities); !errors.Is(err, ErrMalformed) {
		t.Errorf("truncated: %v", err)
	}
}
