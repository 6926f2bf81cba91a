package session

import (
	"crypto/tls"
	"net"
	"strings"
	"time"

	"locus/proxy/compressed"
	"locus/proxy/sysvars"
)

// answers returns the source of the answers to questions about the session itself.
func (s *Session) answers() *sysvars.Answers {
	conn := s.client.Stream.NetConn()
	_, port := hostPort(conn.LocalAddr())
	host, _ := hostPort(conn.RemoteAddr())
	return &sysvars.Answers{
		Evaluator: s.eval, ID: s.id, User: s.user, Host: host, Port: port, Version: s.Version(), Hostname: s.Hostname,
		MaxStatement: s.MaxStatement, Timeouts: s.Timeouts, Bounded: s.engine.Account.Rights != nil, Status: s.shownStatus, Processes: s.Processes,
		Admin: s.engine.Account.Admin, Virtual: s.Virtual, Ctx: s.ctx, FirstUnwell: !s.engine.Health().Well(s.Snapshot().Catalog.First()),
	}
}

// hostPort returns the address of one end of a connection, as MySQL writes it without a lookup of names.
func hostPort(a net.Addr) (host, port string) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "localhost", "0"
	}
	return host, port
}

// shownStatus returns what SHOW STATUS shows about the process and the client's connection.
func (s *Session) shownStatus() sysvars.Status {
	status := sysvars.Status{Prepared: s.Counts.Prepared.Load(), Statements: s.Counts.Statements.Load(), Uptime: time.Since(s.Began)}
	conn := s.client.Stream.NetConn()
	if c, ok := conn.(*compressed.Conn); ok {
		conn = c.NetConn()
	}
	if secured, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := secured.ConnectionState()
		status.TLSVersion = strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1)
		status.Cipher = tls.CipherSuiteName(state.CipherSuite)
	}
	return status
}
