package main

import (
	"crypto/tls"
	"net"
	"testing"
	"time"

	"locus/config"
	"locus/proxy/handshake"
)

// A port for HTTP that has a certificate answers by TLS alone. One without a certificate does not.
func TestTLSOfPorts(t *testing.T) {
	dir := t.TempDir()
	if _, err := handshake.SelfSigned(dir); err != nil {
		t.Fatal(err)
	}
	files := config.KeyPair{Cert: dir + "/server-cert.pem", Key: dir + "/server-key.pem"}
	c := &config.Config{HTTP: config.HTTP{Listen: "127.0.0.1:0"}, IDs: config.IDs{Listen: "127.0.0.1:0", TLS: files}}
	shown := new(certificates)
	if err := shown.load(c); err != nil {
		t.Fatal(err)
	}
	l, err := listen(c, shown)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	}()
	for name, port := range map[string]struct {
		listener net.Listener
		secure   bool
	}{"http": {l.page, false}, "ids": {l.ids, true}} {
		ended := make(chan error, 1)
		go func() {
			conn, err := port.listener.Accept()
			if err != nil {
				ended <- err
				return
			}
			defer conn.Close()
			secure, is := conn.(*tls.Conn)
			if !is {
				ended <- nil
				return
			}
			ended <- secure.Handshake()
		}()
		dialer := &net.Dialer{Timeout: 10 * time.Second}
		client, err := tls.DialWithDialer(dialer, "tcp", port.listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if (err == nil) != port.secure {
			t.Errorf("%s: TLS: %v", name, err)
		}
		if err == nil {
			if got, want := client.ConnectionState().PeerCertificates[0].Raw, shown.ids.current.Load().Certificate[0]; string(got) != string(want) {
				t.Errorf("%s has another certificate", name)
			}
			_ = client.Close()
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
