package demo

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestDefaultIsValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateNamesTheFlags(t *testing.T) {
	o := Options{Engine: "oracle", Proxies: 3, Proxy: "127.0.0.1:65534", HTTP: ":8306", OrdersPerSecond: -1, Spare: -1}
	err := o.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	var flags []string
	for line := range strings.Lines(err.Error()) {
		flag, _, _ := strings.Cut(line, " ")
		flags = append(flags, strings.TrimSuffix(flag, ":"))
	}
	want := []string{"--data", "--engine", "--shards", "--spare", "--proxy", "--http", "--orders-per-second"}
	if !slices.Equal(flags, want) {
		t.Errorf("flags %v, want %v in\n%v", flags, want, err)
	}
}

func TestProxyAddressesFollow(t *testing.T) {
	got, err := Options{Proxy: "[::1]:4306", Proxies: 3}.proxyAddresses()
	if err != nil || !slices.Equal(got, []string{"[::1]:4306", "[::1]:4307", "[::1]:4308"}) {
		t.Errorf("addresses %v, %v", got, err)
	}
}

func TestBusyPortsAreNamedByTheirFlags(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := Options{Proxy: l.Addr().String(), Proxies: 1, HTTP: l.Addr().String()}
	err = o.checkPorts()
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"--proxy: can't listen on " + l.Addr().String(), "--http: can't listen on " + l.Addr().String(), "address already in use; choose another",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in\n%v", want, err)
		}
	}
}
