package session

import (
	"crypto/tls"
	"net"
	"strings"
	"time"

	"locus/proxy/compressed"
	"locus/proxy/sysvars"
)

// answers are what the session's questions about itself are answered from.
func (s *Session) answers() *sysvars.Answers {
	conn := s.client.Stream.NetConn()
	_, port := address(conn.LocalAddr())
	host, _ := address(conn.RemoteAddr())
	return &sysvars.Answers{
		State: &s.vars, ID: s.id, User: s.user, Host: host, Port: port, Version: s.Version(), Hostname: s.Hostname,
		MaxStatement: s.MaxStatement, Timeouts: s.Timeouts, Bounded: s.account.Rights != nil, Status: s.shownStatus, Processes: s.Processes,
		Admin: s.account.Admin, Virtual: s.Virtual, Ctx: s.ctx, FirstUnwell: !s.env.Health().Well(s.Snapshot().Catalog.First()),
	}
}

// address is where an end of a connection is, as MySQL writes it without looking up
// names.
func address(a net.Addr) (host, port string) {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "localhost", "0"
	}
	return host, port
}

// shownStatus is what SHOW STATUS tells of the process and of the client's connection.
func (s *Session) shownStatus() sysvars.Status {
	status := sysvars.Status{Prepared: s.Counts.Prepared.Load(), Statements: s.Counts.Statements.Load(), Uptime: time.Since(s.Began)}
	under := s.client.Stream.NetConn()
	if c, ok := under.(*compressed.Conn); ok {
		under = c.NetConn()
	}
	if conn, ok := under.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := conn.ConnectionState()
		status.TLSVersion = strings.Replace(tls.VersionName(state.Version), "TLS 1.", "TLSv1.", 1)
		status.Cipher = tls.CipherSuiteName(state.CipherSuite)
	}
	return status
}
