package handshake

import (
	"context"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// erSecureTransport is MySQL's ER_SECURE_TRANSPORT_REQUIRED.
const erSecureTransport = 3159

// authenticate verifies the client's identity. It treats a user without an account like one with a wrong password.
func (d *dialogue) authenticate(ctx context.Context, client *Client, c claim) error {
	if err := d.admit(); err != nil {
		return err
	}
	account, known := d.cfg.Accounts.Lookup(client.User)
	if client.Capabilities&mysql.CLIENT_PLUGIN_AUTH == 0 {
		c.plugin = mysql.AUTH_NATIVE_PASSWORD
	}
	var err error
	switch {
	case !d.allows(account, c.plugin):
		err = d.ask(client, d.preferred(account), &c)
	case c.early, c.isDummy(client):
		err = d.ask(client, c.plugin, &c)
	}
	if err != nil {
		return err
	}
	right, err := d.check(account, known, c)
	if err != nil {
		return err
	}
	if !right || !known {
		d.punish(ctx, client.User)
		return d.denied(client.User, known, c)
	}
	d.cfg.Attempts.Passed(client.User)
	if account.sealed && !d.secret() {
		return mysql.NewError(erSecureTransport, "Connections using insecure transport are prohibited for this user: connect with TLS")
	}
	client.Plugin = c.plugin
	client.NextSeq = d.seq
	return nil
}

// allows reports whether the plugin can verify the account's password. caching_sha2_password can verify any hash once it gets the
// password itself. So clients without mysql_native_password can use accounts stored for it, over TLS.
func (d *dialogue) allows(a Account, plugin string) bool {
	switch plugin {
	case mysql.AUTH_CACHING_SHA2_PASSWORD:
		return a.open || a.digest != nil || a.native == nil || d.secret()
	case mysql.AUTH_NATIVE_PASSWORD:
		return a.crypt == nil
	}
	return false
}

// preferred returns the plugin to request if the client's own isn't allowed.
func (d *dialogue) preferred(a Account) string {
	if d.allows(a, mysql.AUTH_CACHING_SHA2_PASSWORD) {
		return mysql.AUTH_CACHING_SHA2_PASSWORD
	}
	return mysql.AUTH_NATIVE_PASSWORD
}

// isDummy reports whether a client with a plugin other than the greeting's may not have answered at all. It waits for a nonce for its
// plugin, and its response so far looks like an empty password.
func (c claim) isDummy(client *Client) bool {
	return c.plugin != greetingPlugin && withoutPassword(c.response) && client.Capabilities&mysql.CLIENT_PLUGIN_AUTH != 0
}

// ask requests authentication by a plugin, perhaps the one that the client already named.
func (d *dialogue) ask(client *Client, plugin string, c *claim) (err error) {
	if client.Capabilities&mysql.CLIENT_PLUGIN_AUTH == 0 {
		return mysql.NewDefaultError(mysql.ER_NOT_SUPPORTED_AUTH_MODE)
	}
	if err = d.send(wire.AppendAuthSwitch(d.out[:0], d.seq, plugin, d.nonce)); err != nil {
		return err
	}
	c.plugin = plugin
	c.response, err = d.receive()
	return err
}

// check reports whether the response is correct for the account. It does the same work for a decoy account.
func (d *dialogue) check(account Account, known bool, c claim) (bool, error) {
	switch {
	case withoutPassword(c.response):
		return account.open, nil
	case c.plugin == mysql.AUTH_NATIVE_PASSWORD:
		return account.matchesNative(c.response, d.nonce[:]), nil
	default:
		return d.checkSHA2(account, known, c.response)
	}
}

// withoutPassword reports whether a response stands for an empty password. Some clients send a single NUL.
func withoutPassword(response []byte) bool {
	return len(response) == 0 || len(response) == 1 && response[0] == 0
}

// denied returns the same error for an unknown user and a wrong password. The wrapping text isn't sent but may be logged.
func (d *dialogue) denied(user string, known bool, c claim) error {
	using, reason := "YES", "wrong password"
	if withoutPassword(c.response) {
		using = "NO"
	}
	if !known {
		reason = "unknown user"
	}
	return fmt.Errorf("%s: %w", reason, mysql.NewDefaultError(mysql.ER_ACCESS_DENIED_ERROR, user, d.host(), using))
}
