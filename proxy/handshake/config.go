package handshake

import (
	"crypto/rsa"
	"crypto/tls"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/stream"
	"locus/proxy/wire"
)

// Capabilities are offered to clients by default. CLIENT_SSL is added if there is a certificate.
const Capabilities = mysql.CLIENT_LONG_PASSWORD | mysql.CLIENT_FOUND_ROWS | mysql.CLIENT_LONG_FLAG | mysql.CLIENT_CONNECT_WITH_DB |
	mysql.CLIENT_PROTOCOL_41 | mysql.CLIENT_INTERACTIVE | mysql.CLIENT_TRANSACTIONS | mysql.CLIENT_SECURE_CONNECTION |
	mysql.CLIENT_MULTI_RESULTS | mysql.CLIENT_PS_MULTI_RESULTS | mysql.CLIENT_PLUGIN_AUTH |
	mysql.CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA | mysql.CLIENT_CONNECT_ATTRS | mysql.CLIENT_MULTI_STATEMENTS | mysql.CLIENT_DEPRECATE_EOF |
	mysql.CLIENT_SESSION_TRACK | mysql.CLIENT_QUERY_ATTRIBUTES | mysql.CLIENT_LOCAL_FILES |
	mysql.CLIENT_IGNORE_SPACE | mysql.CLIENT_COMPRESS | mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM

const (
	defaultMaxPacket = 16 << 10
	defaultCollation = 45 // utf8mb4_general_ci, which all servers and clients support
	maxAttributes    = 64
)

// Accounts looks up users. It is safe for concurrent use.
type Accounts interface {
	// Lookup returns the account with that name. If there is none, it returns another user's account or the zero Account, and false.
	// The login is then conducted as for an existing user, so that it looks the same, and refused regardless of the password.
	Lookup(user string) (Account, bool)
}

// Config holds the settings of all logins. It must not change once in use.
type Config struct {
	ServerVersion func() string
	ConnectionID  func() uint32 // returns a connection ID for each login, sent to the client
	Accounts      Accounts
	Digests       *Digests        // nil: accounts known only by a hash take the full path every time
	Attempts      *Attempts       // nil: failed logins are answered without delay
	TLS           *tls.Config     // nil for no TLS
	RSA           *rsa.PrivateKey // nil: the full path of caching_sha2_password requires TLS or a Unix socket
	Capabilities  uint32          // offered to clients; 0 for Capabilities
	Collation     func() byte     // default sent to clients, which some adopt; nil or 0 for utf8mb4_general_ci
	Extended      func() uint32   // MariaDB's own capabilities, offered to clients; nil for none
	MaxPacket     int             // longest payload in bytes before the login is complete; 0 for 16 KiB
}

func (c *Config) offered() uint32 {
	offered := c.Capabilities
	if offered == 0 {
		offered = Capabilities
	}
	if c.TLS != nil {
		return offered | mysql.CLIENT_SSL
	}
	return offered &^ mysql.CLIENT_SSL
}

func (c *Config) extended() uint32 {
	if c.Extended == nil {
		return 0
	}
	return c.Extended()
}

// Client is a logged-in client.
type Client struct {
	Stream       *stream.Conn // encrypted if TLS is used; its limit is still Config.MaxPacket
	NextSeq      byte         // sequence number of the OK or ERR that the client waits for
	ConnectionID uint32
	User         string
	Database     string            // empty if none was requested
	Capabilities uint32            // negotiated
	Extended     uint32            // MariaDB's own, negotiated
	Collation    uint16            // ID; only the lower eight bits arrive if it exceeds 255
	Attributes   map[string]string // at most 64 connection attributes
	MaxPacket    uint32            // the longest payload in bytes that the client accepts; 0 if unknown
	TLS          bool
	Plugin       string // the plugin that authenticated it

	nonce [wire.NonceSize]byte
}
