package handshake

import (
	"net"
	"testing"

	"github.com/go-mysql-org/go-mysql/client"
)

// BenchmarkLogin measures whole logins, from the first byte of the connection to the end of the login. Many run
// at a time, by clients in the same process.
func BenchmarkLogin(b *testing.B) {
	s := serve(b, config(b))
	for name, user := range map[string]string{"caching_sha2_password": "clear", "native": "native"} {
		b.Run(name, func(b *testing.B) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range b.N {
					<-s.outcomes
				}
			}()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					conn, err := client.Connect(s.address, user, password, "shop")
					if err != nil {
						b.Error(err)
						return
					}
					_ = conn.Conn.Conn.(*net.TCPConn).SetLinger(0) // thousands would wait for their ports
					_ = conn.Quit()
				}
			})
			<-done
		})
	}
}
