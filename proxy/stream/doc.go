// Package stream adds a read buffer to a network connection. Bytes can be inspected, forwarded and discarded without copying. An
// idle connection holds no buffer.
//
// It owns the read buffer and its memory. It interprets only packet headers, never buffers writes, and starts no goroutine. A Conn
// is for one goroutine at a time, except for Close and the deadlines.
package stream
