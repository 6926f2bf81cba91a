package proxy

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/compressed"
	"locus/proxy/handshake"
	"locus/proxy/stream"
)

// compress returns the client's stream after the login. The stream is compressed if the client requested compression.
func compress(c *handshake.Client) *stream.Conn {
	var algorithm compressed.Algorithm
	switch {
	case c.Capabilities&mysql.CLIENT_COMPRESS != 0:
		algorithm = compressed.Zlib
	case c.Capabilities&mysql.CLIENT_ZSTD_COMPRESSION_ALGORITHM != 0:
		algorithm = compressed.Zstd
	default:
		return c.Stream
	}
	early := c.Stream.Unread()
	conn := stream.New(compressed.New(c.Stream.NetConn(), early, algorithm))
	conn.IgnoreNumbers()
	c.Stream.Discard(len(early))
	c.Stream.Release()
	return conn
}
