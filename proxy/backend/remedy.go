package backend

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// remedies maps error codes of refused logins to remedies.
var remedies = map[uint16]string{
	1040: "the server's max_connections is reached: raise it, or lower the shard's connection limit",
	1203: "the user's max_user_connections is reached: raise it, or lower the shard's connection limit",
	1226: "the user's resource limit is reached: raise it, or lower the shard's connection limit",
	1045: "check the user and its password on that server",
	1698: "the user logs in by unix socket there: give it a password",
	1251: "give the user an authentication plugin of mysql_native_password or caching_sha2_password",
	1129: "the server blocks this host after too many errors: run FLUSH HOSTS there",
	1130: "create the user for this host on that server",
	1862: "the user's password expired: change it there",
	3118: "the user is locked there: ALTER USER ... ACCOUNT UNLOCK",
	3159: "the server wants TLS: configure it for this shard",
	4151: "the user is locked there: ALTER USER ... ACCOUNT UNLOCK",
}

// full reports whether a server refused a login because it has too many connections. Existing connections still work.
func full(err error) bool {
	e, ok := errors.AsType[*ServerError](err)
	return ok && (e.Code == 1040 || e.Code == 1203 || e.Code == 1226)
}

// away reports whether a login failed because the server is down, is starting or stopping, or can't be reached, as during a
// restart. Then the only remedy is to wait. A refused account would be refused again.
func away(err error) bool {
	if err == nil || certificate(err) {
		return false
	}
	e, refused := errors.AsType[*ServerError](err)
	return !refused || e.Code == mysql.ER_SERVER_SHUTDOWN || e.Code == erServerNotAvailable
}

// erServerNotAvailable is MySQL's ER_SERVER_ISNT_AVAILABLE, sent by a server that starts or stops.
const erServerNotAvailable = 3168

func remedy(err error) string {
	if e, ok := errors.AsType[*ServerError](err); ok {
		return remedies[e.Code]
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "check the shard's address"
	}
	if certificate(err) {
		return "check the CA and the server name that are configured for the shard's TLS, and the server's certificate"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "check that the server runs and that the shard's address is right"
	}
	if timeout, ok := errors.AsType[net.Error](err); errors.Is(err, os.ErrDeadlineExceeded) || ok && timeout.Timeout() {
		return "check that the server answers, the shard's address, and the firewall between"
	}
	return ""
}

func certificate(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	return unverified || unknown || name
}
