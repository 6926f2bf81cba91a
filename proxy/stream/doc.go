// Package stream puts a read buffer on a network connection, such that bytes can be looked at, forwarded and discarded without being
// copied, and such that a connection nobody speaks on holds no buffer.
//
// It owns the read buffer and its memory. It never interprets more of the bytes than the packets' headers, never buffers what is
// written, and starts no goroutine. A Conn is for one goroutine, except for Close and the deadlines.
package stream
