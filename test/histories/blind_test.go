package histories

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// The condition by which a shard excludes rows of other shards, and one of the same length that excludes none.
var owned, unowned = []byte("IS NOT TRUE"), []byte("IS NOT NULL")

// blindly returns the address of a TCP proxy of the server that replaces the condition in all texts.
func blindly(t *testing.T, server string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var carrying sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(func() {
		_ = listener.Close()
		end()
		carrying.Wait()
	})
	carrying.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			carrying.Go(func() { blind(ctx, conn, server) })
		}
	})
	return listener.Addr().String()
}

// blind carries a connection until either side or the context ends it.
func blind(ctx context.Context, client net.Conn, addr string) {
	defer client.Close()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })()
	var back sync.WaitGroup
	defer back.Wait()
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	defer server.Close()
	for {
		packet := make([]byte, 4)
		if _, err := io.ReadFull(client, packet); err != nil {
			return
		}
		size := binary.LittleEndian.Uint32(packet) & 0xffffff
		packet = append(packet, make([]byte, size)...)
		if _, err := io.ReadFull(client, packet[4:]); err != nil {
			return
		}
		if _, err := server.Write(bytes.ReplaceAll(packet, owned, unowned)); err != nil {
			return
		}
	}
}
